namespace "bench" {
  count = 2
  name  = "bench-${count.index}"
}

output "third" {
  value = namespace.bench[2].name
}
