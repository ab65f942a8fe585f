namespace "bench" {
  for_each = toset(["a"])
  count    = 2
  name     = each.key
}
