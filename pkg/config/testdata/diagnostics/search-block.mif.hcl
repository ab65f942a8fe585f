search "max" {
  scenario = "s"
}
