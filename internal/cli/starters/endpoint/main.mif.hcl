# A benchmark of a server that is already there: no cluster, no state.
#   mifbench simulate &
#   mifbench run --chdir examples/endpoint

mifbench {
  stack = "endpoint"
}

variable "endpoint" {
  type        = string
  description = "Base URL of an OpenAI-compatible server"
  default     = "http://127.0.0.1:8000"
}

variable "model" {
  type        = string
  description = "Model name as served"
  default     = "simulated"
}

variable "text" {
  type        = string
  description = "A text file, or a directory of them, from which prompts are cut"
}

dataset "text" {
  path = var.text
}

scenario "chat-like" {
  endpoint      = var.endpoint
  model         = var.model
  dataset       = dataset.text
  input_tokens  = 256
  output_tokens = 128
  ignore_eos    = true

  load {
    requests        = 400
    max_concurrency = 64
    request_rate    = 20
  }
  window {
    warmup   = "4s"
    cooldown = "3s"
  }
  slo {
    ttft  = "500ms"
    itl   = "50ms"
    share = "99%"
  }
}
