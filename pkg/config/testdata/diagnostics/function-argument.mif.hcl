variable "ports" {
  type    = string
  default = "8000"
}

output "x" {
  value = join(",", var.ports)
}
