gateway "mif" {
  namespace = "bench"
  listener "http" {
    protocol = "HTTP"
  }
}
