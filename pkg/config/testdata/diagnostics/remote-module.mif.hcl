module "stack" {
  source = "git::https://example.com/modules.git"
}
