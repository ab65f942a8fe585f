namespace "bench" {
  name = "bench"
}
}
