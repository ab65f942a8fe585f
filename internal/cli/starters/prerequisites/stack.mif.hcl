# Everything that examples/deepseek-r1-mi300x expects of a cluster, on an empty one: apply this
# once, then the benchmark. What depends on the hardware stays the site's: the GPU operator, the
# RDMA device plugin and the node labels (moai.moreh.io/accelerator.vendor and .model).
#
# The file stands in a state of its own: destroying the benchmark leaves it alone, and destroying
# it removes definitions and with them every InferenceService, Gateway and Certificate.

mifbench {
  required_version = ">= 0.1.0"
  stack            = "mif-prerequisites"
}

cluster {
  context = var.kube_context
}

namespace "cert_manager" { name = "cert-manager" }
namespace "istio" { name = "istio-system" }
namespace "lws" { name = "lws-system" }
namespace "mif" { name = "mif" } # presets are looked up here by every other namespace

# Definitions that come as plain files, too large for client-side apply.

manifest "gateway_api" { file = var.gateway_api_crds }
manifest "inference_extension" { file = var.inference_extension_crds }

# ServiceMonitor and PodMonitor, which the scheduler's chart makes by default.
helm_release "monitoring_crds" {
  namespace  = namespace.mif.name
  name       = "prometheus-operator-crds"
  repository = local.repositories.monitoring
  chart      = "prometheus-operator-crds"
  version    = local.versions.monitoring_crds
}

# Certificates for Odin's webhooks: without them no InferenceService can be written.
helm_release "cert_manager" {
  namespace  = namespace.cert_manager.name
  name       = "cert-manager"
  repository = local.repositories.jetstack
  chart      = "cert-manager"
  version    = local.versions.cert_manager
  values     = { crds = { enabled = true, keep = false } }
}

helm_release "istio_base" {
  namespace  = namespace.istio.name
  name       = "istio-base"
  repository = local.repositories.istio
  chart      = "base"
  version    = local.versions.istio
}

helm_release "istiod" {
  namespace  = namespace.istio.name
  repository = local.repositories.istio
  chart      = "istiod"
  version    = local.versions.istio
  values     = { pilot = { env = { ENABLE_GATEWAY_API_INFERENCE_EXTENSION = "true" } } }
  depends_on = [helm_release.istio_base, manifest.gateway_api, manifest.inference_extension]
}

# Odin makes LeaderWorkerSets of the services with several ranks.
helm_release "lws" {
  namespace    = namespace.lws.name
  repository   = local.repositories.lws
  chart        = "lws"
  version      = local.versions.lws
  upgrade_crds = true
}

ecr_credentials "odin" {
  namespace   = namespace.mif.name
  secret_name = "moreh-registry"
  registry    = local.registry
  mode        = "aws"
}

# Its record fills 98 % of the Secret that Helm keeps a release in; the plan warns.
helm_release "odin_crd" {
  namespace  = namespace.mif.name
  name       = "odin-crd"
  repository = local.repositories.moreh
  chart      = "odin-crd"
  version    = local.versions.odin_crd
}

helm_release "odin" {
  namespace  = namespace.mif.name
  repository = local.repositories.moreh
  chart      = "odin"
  version    = local.versions.odin
  values     = { global = { imagePullSecrets = [{ name = ecr_credentials.odin.secret_name }] } }
  depends_on = [helm_release.odin_crd, helm_release.cert_manager, helm_release.lws]
}

helm_release "presets" {
  namespace  = namespace.mif.name
  name       = "moai-inference-preset"
  repository = local.repositories.moreh
  chart      = "moai-inference-preset"
  version    = local.versions.presets
  depends_on = [helm_release.odin]
}

output "versions" {
  description = "What was installed, for the benchmark's record"
  value       = local.versions
}
