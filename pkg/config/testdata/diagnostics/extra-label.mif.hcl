namespace "bench" "two" {
  name = "bench"
}
