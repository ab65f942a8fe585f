gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}

namespace "x" {
  for_each = toset([gateway.mif.url])
  name     = each.key
}
