variable "x" {
  type    = strng
  default = "a"
}
