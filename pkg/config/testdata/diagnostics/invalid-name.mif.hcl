namespace "my bench" {
  name = "bench"
}
