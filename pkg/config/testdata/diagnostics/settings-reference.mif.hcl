variable "stack" {
  default = "x"
}

mifbench {
  stack = var.stack
}
