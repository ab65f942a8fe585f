namespace "bench" {
  for_each = ["a", "b"]
  name     = each.value
}
