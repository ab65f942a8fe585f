locals {
  engine_ports = range(8000, 8008)
}

output "ports" {
  value = local.engine_port
}
