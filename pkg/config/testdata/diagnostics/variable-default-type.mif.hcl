variable "services" {
  type = map(object({
    replicas = number
    role     = optional(string, "decode")
  }))
  default = {
    decode  = { replicas = 3 }
    prefill = { replicas = "two" }
  }
}
