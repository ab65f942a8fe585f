namespace "bench" {
  name = ["bench"]
}
