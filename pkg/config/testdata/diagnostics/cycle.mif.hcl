namespace "a" {
  name = "x-${local.suffix}"
}

locals {
  suffix = namespace.b.name
}

namespace "b" {
  name = namespace.a.name
}
