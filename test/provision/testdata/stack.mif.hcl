# The published stack in small: what plan and apply cost is not a matter of replicas.

mifbench {
  stack = "NAME"
}

cluster {
  context = "localcluster"
}

variable "chart_repository" { type = string }
variable "level" {
  type    = string
  default = "low"
}

namespace "bench" {
  name = "NAME"
}

gateway "mif" {
  namespace = namespace.bench.name
  class     = "istio"
  listener "http" {
    protocol       = "HTTP"
    port           = 80
    allowed_routes = "All"
  }
  infrastructure {
    service = { spec = { type = "ClusterIP" } }
  }
}

heimdall "heimdall" {
  namespace     = namespace.bench.name
  repository    = var.chart_repository
  version       = "v0.7.1"
  gateway       = gateway.mif.name
  gateway_class = gateway.mif.class
  target_ports  = range(8000, 8008)
}

inference_service "decode" {
  namespace     = namespace.bench.name
  name          = "r1-decode"
  role          = "decode"
  replicas      = 1
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-decode-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8"]
}

inference_service "prefill" {
  namespace     = namespace.bench.name
  name          = "r1-prefill"
  role          = "prefill"
  replicas      = 1
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-prefill-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-prefill-amd-mi300x-dp8-moe-ep8"]
}

manifest "settings" {
  count = 10
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings-${count.index}", namespace = namespace.bench.name }
    data       = { level = var.level }
  }
}
