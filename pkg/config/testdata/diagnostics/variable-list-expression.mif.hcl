# var: ports=8000,8001
variable "ports" {
  type = list(number)
}
