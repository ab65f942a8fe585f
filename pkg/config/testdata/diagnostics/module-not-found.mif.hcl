module "stack" {
  source = "./modules/pd-stack"
}
