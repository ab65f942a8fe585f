namespace "a" {
  name = "a"

  lifecycle {
    ignore_changes = "metadata.labels"
  }
}
