# var: password=hunter2
variable "password" {
  type      = string
  sensitive = true

  validation {
    condition     = length(var.password) > 20
    error_message = "A password needs 20 characters; ${var.password} has fewer."
  }
}
