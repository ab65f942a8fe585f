manifest "m" {
  object = yamldecode(<<EOT
kind: A
---
kind: B
EOT
  )
}
