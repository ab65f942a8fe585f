namespace "bench" {
  name = "DeepSeek_R1"
}
