heimdall "heimdall" {
  namespace     = "bench"
  repository    = "https://example.com/charts"
  version       = "v0.7.1"
  gateway       = "mif"
  gateway_class = "istio"

  plugin "max-score-picker" {
    parameter = { maxNumOfEndpoints = 1 }
  }
}
