namespace "bench" {
  nmae = "bench"
}
