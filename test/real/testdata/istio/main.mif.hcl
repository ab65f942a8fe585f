# istiod from its own chart, as MIF's prerequisites ask for it. The image names a container that
# localcluster plays with the real program.

mifbench {
  required_version = ">= 0.1.0"
  stack            = "istio"
}

cluster {
  context = "localcluster"
}

variable "charts" {
  type        = string
  description = "Folder manifests/charts of Istio's source"
}

namespace "istio" {
  name = "istio-system"
}

helm_release "istiod" {
  namespace = namespace.istio.name
  chart     = "${var.charts}/istio-control/istio-discovery"
  values = {
    autoscaleEnabled = false
    env = {
      ENABLE_GATEWAY_API_INFERENCE_EXTENSION = "true"
      # Filters of Istio's own build of Envoy, which is not the Envoy here. None is on the way
      # of a request: protocol negotiation in the mesh, peers' metadata, Istio's metrics.
      PILOT_ENABLE_ALPN_FILTER       = "false"
      PILOT_ENABLE_METADATA_EXCHANGE = "false"
    }
    telemetry = { enabled = false }
    meshConfig = {
      enablePrometheusMerge = false
      defaultConfig         = { concurrency = 2 }
    }
  }
}
