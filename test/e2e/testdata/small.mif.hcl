# A stack without pods for tests of bad weather: every driver but the one of ECR, and a custom
# resource whose definition comes from this same file.

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

manifest "settings" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings", namespace = namespace.bench.name }
    data       = { level = var.level }
  }
}

manifest "definition" {
  object = {
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata   = { name = "widgets.e2e.example.org" }
    spec = {
      group = "e2e.example.org"
      scope = "Namespaced"
      names = { plural = "widgets", singular = "widget", kind = "Widget" }
      versions = [{
        name    = "v1"
        served  = true
        storage = true
        schema = { openAPIV3Schema = {
          type       = "object"
          properties = { spec = { type = "object", properties = { size = { type = "integer" } } } }
        } }
      }]
    }
  }
}

manifest "widget" {
  object = {
    apiVersion = "e2e.example.org/v1"
    kind       = "Widget"
    metadata   = { name = "first", namespace = namespace.bench.name }
    spec       = { size = 1 }
  }
}

helm_release "chart" {
  namespace = namespace.bench.name
  chart     = "./chart"
  values    = { level = var.level }
}
