output "x" {
  value = templatefile("a.tpl", { n = 1 })
}
