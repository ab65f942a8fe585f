mifbench {
  required_version = ">= 0.1.0"
  stack            = "deepseek-r1-mi300x"
  backend "local" { path = "mifbench.state.json" }
}

variable "model_path" {
  type        = string
  description = "Directory on every worker node that holds the DeepSeek-R1 checkpoint"
}
variable "client_node"  { type = string }
variable "dataset_root" { type = string }
variable "kube_context" {
  type    = string
  default = null
}

locals { engine_ports = range(8000, 8008) }

cluster {
  context = var.kube_context
}

namespace "bench" {
  name = "deepseek-r1-benchmark"
}

ecr_credentials "moreh" {
  namespace   = namespace.bench.name
  secret_name = "moreh-registry"
  registry    = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
  mode        = "aws"

  refresh { schedule = "0 */6 * * *" }
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
    service    = { spec = { type = "ClusterIP" } }
    deployment = { spec = { template = { spec = { containers = [{ name = "istio-proxy", resources = { limits = null } }] } } } }
  }
}

heimdall "heimdall" {
  namespace          = namespace.bench.name
  repository         = "https://moreh-dev.github.io/helm-charts"
  version            = "v0.7.1"
  gateway            = gateway.mif.name
  gateway_class      = gateway.mif.class
  image_pull_secrets = [ecr_credentials.moreh.secret_name]
  target_ports       = local.engine_ports

  plugin "pd-profile-handler" {}
  plugin "prefill-filter" {}
  plugin "decode-filter" {}
  plugin "active-request-scorer" { parameters = { requestTimeout = "20m" } }
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
  values = {}
}

inference_service "decode" {
  namespace     = namespace.bench.name
  name          = "deepseek-r1-decode"
  role          = "decode"
  replicas      = 3
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-decode-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8"]
  worker_template = {
    spec = {
      containers = [{ name = "main", env = local.decode_env, resources = local.hca, volumeMounts = local.mounts }]
      volumes    = local.volumes
    }
  }
}

dataset "sharegpt"  { path = "${var.dataset_root}/ShareGPT_V3_unfiltered_cleaned_split.json" }
dataset "gutenberg" { path = "${var.dataset_root}/project_gutenberg" }

scenario "sharegpt-512" {
  target     = gateway.mif
  model      = "deepseek-ai/DeepSeek-R1"
  tokenizer  = "${var.model_path}/tokenizer.json"
  dataset    = dataset.sharegpt
  input_tokens  = 512
  output_tokens = 512
  ignore_eos    = true
  engine        = "native"

  load {
    requests        = 32400
    max_concurrency = 10800
    request_rate    = 140
    burstiness      = 1.0
  }
  window {
    warmup   = "120s"
    cooldown = "70s"
  }
  client {
    mode          = "cluster"
    pods          = 1
    node_selector = { "kubernetes.io/hostname" = var.client_node }
  }
  metrics { percentiles = [1, 10, 25, 50, 75, 90] }
  slo {
    ttft = "10s"
    itl  = "250ms"
  }
  cost {
    gpu_hour = 2.0
    gpus     = 40
  }
  reference {
    output_tokens_per_second = 66194.80
    tolerance                = "3%"
    source                   = "published table, row 1"
  }
}

output "endpoint" { value = gateway.mif.url }
