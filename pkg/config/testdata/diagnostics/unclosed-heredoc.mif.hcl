locals {
  text = <<EOT
hello
  EOT # the end
}

namespace "b" {
  name = "b"
}
