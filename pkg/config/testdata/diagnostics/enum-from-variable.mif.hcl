variable "role" {
  type    = string
  default = "decoder"
}

inference_service "decode" {
  namespace = "bench"
  role      = var.role
}
