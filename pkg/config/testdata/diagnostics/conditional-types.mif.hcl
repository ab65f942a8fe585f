variable "prod" {
  type    = bool
  default = true
}

locals {
  x = var.prod ? { replicas = 3, name = "x" } : ["none"]
}
