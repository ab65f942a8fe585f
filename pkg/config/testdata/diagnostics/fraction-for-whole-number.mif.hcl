inference_service "decode" {
  namespace = "bench"
  replicas  = 2.5
}
