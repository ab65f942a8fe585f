# var: names=null
variable "names" {
  type     = list(string)
  nullable = false
}
