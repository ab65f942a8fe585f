gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listner "http" {
    protocol = "HTTP"
    port     = 80
  }
}
