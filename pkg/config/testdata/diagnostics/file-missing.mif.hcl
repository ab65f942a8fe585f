manifest "m" {
  object = yamldecode(file("manifests/client.yaml"))
}
