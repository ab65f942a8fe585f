variable "replicas" {
  type        = number
  description = "How many instances run."
}

output "name" {
  value = "x-${var.replicas}"
}
