namespace "a" {
  name = "bench-${local.x"
}

locals {
  x = "y"
}
