# var: replicas=many
variable "replicas" {
  type = number
}
