# var: password=hunter2
variable "password" {
  type      = string
  sensitive = true
}

inference_service "decode" {
  namespace = "bench"
  replicas  = var.password
}

output "leak" {
  value = "user:${var.password}"
}
