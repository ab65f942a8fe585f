namespace "bench" {
  name = "bench"
}

output "x" {
  value = namespace
}
