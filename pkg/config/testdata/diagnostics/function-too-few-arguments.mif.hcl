output "x" {
  value = replace("a-b", "-")
}
