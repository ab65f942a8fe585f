output "x" {
  value = jsondecod("{}")
}
