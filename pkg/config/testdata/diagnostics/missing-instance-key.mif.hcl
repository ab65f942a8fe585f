namespace "bench" {
  for_each = toset(["a", "b"])
  name     = "bench-${each.key}"
}

output "name" {
  value = namespace.bench.name
}
