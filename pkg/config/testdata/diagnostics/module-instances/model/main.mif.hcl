variable "name" {
  type = string
}

output "host" {
  value = "${var.name}.example"
}
