namespace "a" {
  name = "a"

  timeouts {
    create = "ten minutes"
    destroy = "10m"
  }
}
