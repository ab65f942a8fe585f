package check_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/check"
)

// TestWaysToWrite: the same mistake is found however the stack is written.
func TestWaysToWrite(t *testing.T) {
	for _, tt := range []struct{ name, src, code, line string }{
		{"the picker's configuration as raw values", `heimdall "h" {
  namespace          = "a"
  repository         = "https://example.org/charts"
  version            = "v0.7.1"
  gateway            = "g"
  gateway_class      = "istio"
  image_pull_secrets = ["s"]
  values = {
    config = {
      plugins = [
        { type = "single-profile-handler" },
        { type = "max-score-picker" },
      ]
      schedulingProfiles = [{
        name = "default"
        plugins = [
          { pluginRef = "max-score-piker" },
        ]
      }]
    }
  }
}`, "MIF001", `{ pluginRef = "max-score-piker" }`},
		{"a helm_release of the chart", `helm_release "h" {
  namespace  = "a"
  repository = "https://example.org/charts"
  chart      = "heimdall"
  version    = "0.7.1"
  values = {
    global  = { imagePullSecrets = [{ name = "s" }] }
    gateway = { name = "g", gatewayClass = "istio" }
  }
}`, "MIF018", `{ name = "g", gatewayClass = "istio" }`},
		{"the chart's own picker configuration", `heimdall "h" {
  namespace          = "a"
  repository         = "https://example.org/charts"
  version            = "v0.7.1"
  gateway            = "g"
  gateway_class      = "istio"
  image_pull_secrets = ["s"]
  target_ports       = range(8000, 8008)
}
inference_service "i" {
  namespace     = "a"
  role          = "both"
  pool          = heimdall.h.pool
  template_refs = ["quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8"]
}`, "MIF015", `heimdall "h"`},
		{"instances of for_each", `inference_service "i" {
  for_each  = { good = "main", bad = "engine" }
  namespace = "a"
  name      = each.key
  role      = "both"
  template_refs   = ["vllm-dp"]
  worker_template = { spec = { containers = [{ name = each.value }] } }
}`, "MIF025", "each.value"},
		{"a pod in a Deployment", `manifest "m" {
  object = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "m", namespace = "a" }
    spec       = { template = { spec = { volumes = [{ name = "v", hostPath = { path = "/x" } }] } } }
  }
}`, "MIF028", `{ path = "/x" }`},
		{"a chart that is not the scheduler's", `helm_release "h" {
  namespace  = "a"
  repository = "https://example.org/charts"
  chart      = "cert-manager"
  values     = { anything = 1 }
}`, "", ""},
		{"a version of the chart that is not known", `heimdall "h" {
  namespace          = "a"
  repository         = "https://example.org/charts"
  version            = "v0.8.0"
  gateway            = "g"
  gateway_class      = "istio"
  image_pull_secrets = ["s"]
  values             = { anything = 1 }
}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, diags := load(t, tt.src+"\n")
			if tt.code == "" {
				if len(diags) > 0 {
					t.Error(render(t, c, diags))
				}
				return
			}
			if len(diags) != 1 {
				t.Fatalf("%d findings:\n%s", len(diags), render(t, c, diags))
			}
			code, _ := hcl.DiagnosticExtra[check.Code](diags[0])
			text := string(diags[0].Subject.SliceBytes([]byte(tt.src)))
			if string(code) != tt.code || !strings.Contains(tt.line, text) {
				t.Errorf("%s at %q:\n%s", code, text, render(t, c, diags))
			}
		})
	}
}
