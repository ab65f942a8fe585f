# var: modle_path=/x
variable "model_path" {
  type    = string
  default = "/models"
}
