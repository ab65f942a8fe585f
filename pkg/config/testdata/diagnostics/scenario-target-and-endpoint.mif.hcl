scenario "s" {
  model = "m"

  load {
    requests        = 10
    duration        = "10s"
    max_concurrency = 2
  }
}
