scenario "wrong" {
  endpoints = ["http://a:8000", "b:8000"]
  model     = "m"

  load {
    requests        = 10
    max_concurrency = 2
  }
}

scenario "none" {
  endpoints = []
  model     = "m"

  load {
    requests        = 10
    max_concurrency = 2
  }
}
