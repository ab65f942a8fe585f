locals {
  ports = [8000, 8001
}

namespace "b" {
  name = "b"
}
