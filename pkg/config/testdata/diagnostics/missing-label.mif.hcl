namespace {
  name = "bench"
}
