variable "chart_repository" {
  type        = string
  description = "Repository of the stand-in chart; the local control plane prints it"
}

variable "dataset_root" {
  type        = string
  description = "Directory that holds the texts from which prompts are cut"
}

variable "client_node" {
  type        = string
  description = "Node of the client pod"
  default     = "cpu-0"
}

variable "model_path" {
  type    = string
  default = "/models/DeepSeek-R1"
}

variable "prefix_caching" {
  type        = bool
  description = "Serve with a prefix cache, as the appendix run (2000/100) needs"
  default     = true
}

# How much faster the simulated engines run, and how many real streams one stream stands
# for; the control plane must be started with the same two numbers.
variable "speedup" {
  type    = number
  default = 20
}

variable "stream_scale" {
  type    = number
  default = 75
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
