# A workload that others have their hands on, too: a webhook, an autoscaler.

mifbench {
  stack = "e2e"
}

cluster {
  context = "localcluster"
}

variable "image" {
  type    = string
  default = "example.org/web:1"
}

variable "color" {
  type    = string
  default = "red"
}

namespace "bench" {
  name = "e2e"
}

manifest "settings" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings", namespace = namespace.bench.name }
    data       = { color = var.color }
  }
}

manifest "web" {
  object = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = namespace.bench.name }
    spec = {
      replicas = 1
      selector = { matchLabels = { app = "web" } }
      template = {
        metadata = { labels = { app = "web" }, annotations = { color = var.color } }
        spec = {
          terminationGracePeriodSeconds = 1
          containers = [{
            name      = "main"
            image     = var.image
            resources = { requests = { cpu = "100m" } }
          }]
        }
      }
    }
  }
}

helm_release "chart" {
  namespace = namespace.bench.name
  chart     = "./chart"
  values    = { level = var.color, image = var.image }
}
