output "x" {
  value = templatefile("a.tpl", { model = "r1" })
}
