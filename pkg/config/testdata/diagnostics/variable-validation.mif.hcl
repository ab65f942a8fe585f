# var: gpus=12
variable "gpus" {
  type = number

  validation {
    condition     = var.gpus % 8 == 0
    error_message = "A node has 8 GPUs, so the number of GPUs must be a multiple of 8, not ${var.gpus}."
  }
}
