namespace "bench" {
  name = "one"
}

namespace "bench" {
  name = "two"
}
