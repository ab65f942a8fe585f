scenario "s" {
  endpoint = "http://127.0.0.1:8000"
  model    = "m"

  load {
    duration     = "60s"
    request_rate = 5
  }
  window {
    warmup   = "40s"
    cooldown = "20s"
  }
}
