# Exactly what the published document asks its reader to modify.

variable "model_path" {
  type        = string
  description = "Directory on every worker node that holds the DeepSeek-R1 checkpoint"
}

variable "client_node" {
  type        = string
  description = "Host name of the node on which the client runs"
}

variable "dataset_root" {
  type        = string
  description = "Directory that holds ShareGPT_V3_unfiltered_cleaned_split.json and project_gutenberg"
}

variable "kube_context" {
  type        = string
  description = "Context of the kubeconfig; null takes its current one and says so"
  default     = null
}

variable "prefix_caching" {
  type        = bool
  description = "Serve with a prefix cache, as the appendix run (2000/100) needs; the six main runs want it off"
  default     = false
}

locals {
  registry     = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
  engine_ports = range(8000, 8008)

  engine_env = [
    { name = "ISVC_MODEL_PATH", value = "/app/model/DeepSeek-R1" },
    { name = "HF_HUB_OFFLINE", value = "1" },
  ]
  hca = {
    limits   = { "mellanox/hca" = "1" }
    requests = { "mellanox/hca" = "1" }
  }
  checkpoint_mounts  = [{ name = "dsr1", mountPath = "/app/model/DeepSeek-R1", readOnly = false }]
  checkpoint_volumes = [{ name = "dsr1", hostPath = { path = var.model_path } }]

  # ISVC_EXTRA_ARGS is one string: to change one flag, all of the preset's are repeated.
  batched_tokens = { decode = 16384, prefill = 64000 }
  prefix_caching_env = {
    for role, tokens in local.batched_tokens : role => [
      for on in [var.prefix_caching] : {
        name = "ISVC_EXTRA_ARGS"
        value = join(" ", [
          "--trust-remote-code",
          "--kv-transfer-config '{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_both\"}'",
          "--disable-uvicorn-access-log",
          "--no-enable-log-requests",
          "--disable-log-stats",
          "--enable-prefix-caching",
          "--no-enable-chunked-prefill",
          "--enforce-eager",
          "--kv-cache-dtype fp8_e4m3",
          "--quantization ds_fp8_per_token",
          "--max-num-batched-token ${tokens}",
          "--gpu-memory-utilization 0.92",
          "--block-size 16",
          "--max-model-len 8192",
          "--max-num-seqs 2048",
        ])
      } if on
    ]
  }
}
