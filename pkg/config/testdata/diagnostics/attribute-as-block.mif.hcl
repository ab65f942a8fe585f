namespace "bench" {
  name = "bench"
  labels {
    mif = "enabled"
  }
}
