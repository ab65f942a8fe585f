namespace "a" {
  name: bench
}
