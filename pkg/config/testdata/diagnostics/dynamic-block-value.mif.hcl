locals {
  ports = { http = 80, grpc = 90 }
}

gateway "mif" {
  namespace = "bench"
  class     = "istio"

  dynamic "listener" {
    for_each = local.ports
    labels   = [listener.key]
    content {
      protocol = upper(listener.key)
      port     = listener.value
    }
  }
}
