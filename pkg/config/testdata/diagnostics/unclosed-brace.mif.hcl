namespace "a" {
  name = "a"

namespace "b" {
  name = "b"
}

output "x" {
  value = 1
}
