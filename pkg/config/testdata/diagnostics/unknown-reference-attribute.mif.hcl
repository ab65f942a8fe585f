namespace "bench" {
  name = "bench"
}

gateway "mif" {
  namespace = namespace.bench.nmae
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}
