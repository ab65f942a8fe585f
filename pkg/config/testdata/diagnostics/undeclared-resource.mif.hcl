namespace "bench" {
  name = "bench"
}

gateway "mif" {
  namespace = namespace.bnech.name
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}
