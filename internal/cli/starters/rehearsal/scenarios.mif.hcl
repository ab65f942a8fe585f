# The seven published runs in small: time runs var.speedup times faster, one stream stands
# for var.stream_scale of the published ones, and rates are scaled to match. What is
# measured is therefore speedup / stream_scale of the published throughput.

locals {
  rate_scale = var.speedup / var.stream_scale

  runs = {
    "1-sharegpt-512"       = { data = "sharegpt", input = 512, output = 512, requests = 32400, rate = 140, warmup = 120, cooldown = 70, published = 66194.80 }
    "2-gutenberg-512"      = { data = "gutenberg", input = 512, output = 512, requests = 32400, rate = 140, warmup = 130, cooldown = 70, published = 64695.10 }
    "3-sharegpt-1000"      = { data = "sharegpt", input = 1000, output = 1000, requests = 32400, rate = 80, warmup = 140, cooldown = 110, published = 61828.90 }
    "4-gutenberg-1000"     = { data = "gutenberg", input = 1000, output = 1000, requests = 32400, rate = 80, warmup = 150, cooldown = 120, published = 61418.55 }
    "5-sharegpt-2000"      = { data = "sharegpt", input = 2000, output = 2000, requests = 32400, rate = 48, warmup = 300, cooldown = 230, published = 51187.87 }
    "6-gutenberg-2000"     = { data = "gutenberg", input = 2000, output = 2000, requests = 32400, rate = 60, warmup = 260, cooldown = 240, published = 50892.65 }
    "7-gutenberg-2000-100" = { data = "gutenberg", input = 2000, output = 100, requests = 225000, rate = 1500, warmup = 30, cooldown = 20, published = 53776.62, prompts = 24 }
  }
}

dataset "sharegpt" {
  path = "${var.dataset_root}/sharegpt.json"
}

dataset "gutenberg" {
  path = "${var.dataset_root}/gutenberg"
}

scenario "published" {
  for_each = local.runs

  target        = gateway.mif
  model         = "deepseek-ai/DeepSeek-R1"
  dataset       = each.value.data == "sharegpt" ? dataset.sharegpt : dataset.gutenberg
  input_tokens  = each.value.input
  output_tokens = each.value.output
  ignore_eos    = true
  prompts       = try(each.value.prompts, null)

  load {
    requests        = floor(each.value.requests / var.stream_scale)
    max_concurrency = 10800 / var.stream_scale
    request_rate    = each.value.rate * local.rate_scale
  }
  window {
    warmup   = "${each.value.warmup / var.speedup}s"
    cooldown = "${each.value.cooldown / var.speedup}s"
  }
  client {
    mode = "local"
  }
  metrics {
    percentiles = [1, 10, 25, 50, 75, 90]
  }
  reference {
    output_tokens_per_second = each.value.published * local.rate_scale
    tolerance                = "15%"
    source                   = "published table × ${var.speedup}/${var.stream_scale}"
  }
}
