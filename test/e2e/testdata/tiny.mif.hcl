# Three objects, for one bad turn of the weather each.

mifbench {
  stack = "e2e"
}

cluster {
  context = "localcluster"
}

variable "level" {
  type    = string
  default = "low"
}

namespace "bench" {
  name = "e2e"
}

manifest "first" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "first", namespace = namespace.bench.name }
    data       = { level = var.level }
  }
}

manifest "second" {
  depends_on = [manifest.first]
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "second", namespace = namespace.bench.name }
    data       = { level = var.level }
  }
}
