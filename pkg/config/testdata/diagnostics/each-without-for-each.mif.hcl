namespace "bench" {
  name = "bench-${each.key}"
}
