gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}

manifest "client" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "client", namespace = "bench" }
    data       = { url = gateway.mif.url }
  }
}
