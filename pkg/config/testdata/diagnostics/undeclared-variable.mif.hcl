variable "model_path" {
  type    = string
  default = "/models"
}

namespace "bench" {
  name = var.modle_path
}
