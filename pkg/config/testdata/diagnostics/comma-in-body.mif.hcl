namespace "a" {
  name = "bench",
}
