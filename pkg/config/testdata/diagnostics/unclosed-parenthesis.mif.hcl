locals {
  ports = join(",", [8000, 8001]
}

namespace "bench" {
  name = "bench"
}
