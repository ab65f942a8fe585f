dataset "text" {
  path = "x.txt"
}

scenario "s" {
  endpoint = "127.0.0.1:8000"
  model    = "m"
  dataset  = "text"
  engine   = "vlm"

  load {
    requests        = 10
    max_concurrency = 2
  }
  window {
    warmup = "2 minutes"
  }
  metrics {
    percentiles = [50, 99, 999]
  }
  slo {
    ttft = 10
  }
  reference {
    output_tokens_per_second = 100
    tolerance                = "three percent"
  }
}
