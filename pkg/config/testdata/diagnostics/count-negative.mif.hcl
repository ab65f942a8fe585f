variable "n" {
  type    = number
  default = -1
}

namespace "bench" {
  count = var.n
  name  = "bench-${count.index}"
}
