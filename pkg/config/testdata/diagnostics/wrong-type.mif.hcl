inference_service "decode" {
  namespace = "bench"
  replicas  = "three"
}
