variable "nodes" {
  type    = number
  default = 0
}

output "rate" {
  value = 140 / var.nodes
}
