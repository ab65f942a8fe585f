locals {
  decode_env = [{ name = "ISVC_MODEL_PATH", value = "/app/model/DeepSeek-R1" }]
  hca        = { limits = { "mellanox/hca" = "1" }, requests = { "mellanox/hca" = "1" } }
  mounts     = [{ name = "dsr1", mountPath = "/app/model/DeepSeek-R1" }]
  volumes    = [{ name = "dsr1", hostPath = { path = var.model_path } }]
}
