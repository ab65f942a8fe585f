gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listener  = { name = "http", protocol = "HTTP", port = 80 }
}
