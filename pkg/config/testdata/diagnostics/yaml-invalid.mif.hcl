manifest "m" {
  object = yamldecode(<<EOT
kind: Pod
  name: x
EOT
  )
}
