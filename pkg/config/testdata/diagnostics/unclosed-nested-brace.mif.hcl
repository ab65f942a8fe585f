gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
}

namespace "bench" {
  name = "bench"
}
