variable "gpus" {
  type    = number
  default = null
}

output "nodes" {
  value = var.gpus / 8
}
