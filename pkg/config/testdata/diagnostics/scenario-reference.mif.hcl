scenario "a" {
  endpoint = "http://127.0.0.1:8000"
  model    = "m"

  load {
    requests     = 1
    request_rate = 1
  }
}

output "x" {
  value = scenario.a.name
}
