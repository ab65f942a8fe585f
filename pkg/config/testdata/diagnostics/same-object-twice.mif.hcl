namespace "a" {
  name = "bench"
}

namespace "b" {
  name = "bench"
}
