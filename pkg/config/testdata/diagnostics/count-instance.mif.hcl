namespace "bench" {
  count = 2
  name  = "bench-${count.index}"
}

output "name" {
  value = namespace.bench.name
}
