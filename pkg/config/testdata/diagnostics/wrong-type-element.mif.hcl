heimdall "heimdall" {
  namespace     = "bench"
  repository    = "https://example.com/charts"
  version       = "v0.7.1"
  gateway       = "mif"
  gateway_class = "istio"
  target_ports  = [8000, "eight", 8002]
}
