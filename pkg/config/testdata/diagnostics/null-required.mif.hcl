variable "ns" {
  type    = string
  default = null
}

namespace "bench" {
  name = var.ns
}
