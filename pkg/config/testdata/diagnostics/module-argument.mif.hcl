# dir: module
module "stack" {
  source   = "./module"
  replica  = 3
}

output "name" {
  value = module.stack.nmae
}
