# A stack without a fault; the tests break it in one place each.
mifbench {
  stack = "test"
}

namespace "bench" {
  name = "bench"
}

ecr_credentials "moreh" {
  namespace = namespace.bench.name
  registry  = "1.dkr.ecr.ap-northeast-2.amazonaws.com"
  mode      = "aws"
}

gateway "mif" {
  namespace = namespace.bench.name
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}

heimdall "heimdall" {
  namespace          = namespace.bench.name
  repository         = "https://example.org/charts"
  version            = "v0.7.1"
  gateway            = gateway.mif.name
  gateway_class      = gateway.mif.class
  image_pull_secrets = [ecr_credentials.moreh.secret_name]
  target_ports       = range(8000, 8008)

  plugin "pd-profile-handler" {}
  plugin "prefill-filter" {}
  plugin "decode-filter" {}
  plugin "active-request-scorer" {
    parameters = { requestTimeout = "20m" }
  }
  plugin "max-score-picker" {}

  scheduling_profile "prefill" {
    use "prefill-filter" {}
    use "active-request-scorer" { weight = 1 }
    use "max-score-picker" {}
  }
  scheduling_profile "decode" {
    use "decode-filter" {}
    use "active-request-scorer" { weight = 1 }
    use "max-score-picker" {}
  }
  values = {
    replicas = 1
  }
}

inference_service "decode" {
  namespace     = namespace.bench.name
  role          = "decode"
  replicas      = 1
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-decode-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8"]
  worker_template = {
    spec = {
      containers = [{ name = "main", resources = { limits = { "mellanox/hca" = "1" } } }]
      volumes    = [{ name = "model", hostPath = { path = "/models", type = "Directory" } }]
    }
  }
}

inference_service "prefill" {
  namespace     = namespace.bench.name
  role          = "prefill"
  replicas      = 1
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-prefill-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-prefill-amd-mi300x-dp8-moe-ep8"]
  worker_template = {
    spec = {
      containers = [{ name = "main", resources = { limits = { "mellanox/hca" = "1" } } }]
    }
  }
}

manifest "client" {
  object = {
    apiVersion = "v1"
    kind       = "Pod"
    metadata   = { name = "client", namespace = namespace.bench.name }
    spec = {
      imagePullSecrets = [{ name = ecr_credentials.moreh.secret_name }]
      containers       = [{ name = "client", image = "1.dkr.ecr.ap-northeast-2.amazonaws.com/client:v1" }]
    }
  }
}

scenario "one" {
  target        = gateway.mif
  model         = "deepseek-ai/DeepSeek-R1"
  input_tokens  = 2000
  output_tokens = 2000
  load {
    requests        = 32400
    max_concurrency = 10800
    request_rate    = 48
  }
  reference {
    output_tokens_per_second = 51187.87
  }
}
