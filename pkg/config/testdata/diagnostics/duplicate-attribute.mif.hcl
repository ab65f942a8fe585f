namespace "bench" {
  name = "one"
  name = "two"
}
