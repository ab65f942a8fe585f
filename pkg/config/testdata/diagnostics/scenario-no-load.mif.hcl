scenario "s" {
  endpoint = "http://127.0.0.1:8000"
  model    = "m"
}
