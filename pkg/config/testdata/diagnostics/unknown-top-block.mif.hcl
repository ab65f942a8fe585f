namespce "bench" {
  name = "bench"
}
