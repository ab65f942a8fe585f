namespace "a" {
  name "bench"
}
