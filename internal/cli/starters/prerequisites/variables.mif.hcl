# What a site decides. The defaults are the version set that the published benchmark runs on.

variable "gateway_api_crds" {
  type        = string
  description = "File standard-install.yaml of Gateway API v1.5.1 (github.com/kubernetes-sigs/gateway-api/releases)"
}

variable "inference_extension_crds" {
  type        = string
  description = "File manifests.yaml of the Gateway API Inference Extension v1.4.0 (github.com/kubernetes-sigs/gateway-api-inference-extension/releases)"
}

variable "kube_context" {
  type        = string
  description = "Context of the kubeconfig; null takes its current one and says so"
  default     = null
}

variable "repositories" {
  type        = map(string)
  description = "Chart repositories that replace the public ones, e.g. { moreh = \"oci://mirror.example/charts\" }: URL, oci:// reference or directory"
  default     = {}
}

variable "versions" {
  type        = map(string)
  description = "Chart versions that replace the defaults, e.g. { istio = \"1.29.2\" }"
  default     = {}
}

locals {
  repositories = merge({
    jetstack   = "https://charts.jetstack.io"
    istio      = "https://istio-release.storage.googleapis.com/charts"
    lws        = "oci://registry.k8s.io/lws/charts"
    monitoring = "https://prometheus-community.github.io/helm-charts"
    moreh      = "https://moreh-dev.github.io/helm-charts"
  }, var.repositories)

  versions = merge({
    cert_manager    = "v1.18.4"
    istio           = "1.29.1" # 1.28.0 balances over one of the pool's eight ports only
    lws             = "0.8.0"
    monitoring_crds = "31.0.1"
    odin_crd        = "v0.8.0" # older ones drop fields that the presets use
    odin            = "v0.8.0"
    presets         = "v0.5.0" # the one that has the benchmark's two templates
  }, var.versions)

  registry = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
}
