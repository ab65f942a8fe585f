locals {
  ports = { http = 80, https = 443 }
}

gateway "mif" {
  namespace = "bench"
  class     = "istio"

  dynamic "listener" {
    for_each = local.ports
    labels   = [listener.key]
    content {
      protocl = upper(listener.key)
      port    = listener.value
    }
  }
}
