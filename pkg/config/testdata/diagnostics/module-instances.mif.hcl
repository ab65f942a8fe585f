module "model" {
  source   = "./model"
  for_each = toset(["r1", "v3"])
  name     = each.key
}

output "host" {
  value = module.model.host
}

output "hosts" {
  value = values(module.model)[*].hots
}

output "first" {
  value = module.model["r1"].hots
}

output "other" {
  value = module.model["llama"].host
}
