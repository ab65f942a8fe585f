namespace "a" {
  name = "a"
}

namespace "b" {
  name       = "b"
  depends_on = ["namespace.a"]
}
