variable "model" {
  type    = string
  default = "r1"
}

output "model" {
  value = vars.model
}
