gateway "mif" {
  namespace = "bench"
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}

dataset "text" {
  path = "x.txt"
}

scenario "s" {
  target  = gateway.mif.name
  dataset = "text"
  model   = "m"

  load {
    requests        = 10
    max_concurrency = 2
  }
}

scenario "t" {
  endpoint = "127.0.0.1:8000"
  dataset  = dataset.txt
  model    = "m"

  load {
    requests = 10
  }
  metrics {
    percentiles = [50, 99, 999]
  }
}
