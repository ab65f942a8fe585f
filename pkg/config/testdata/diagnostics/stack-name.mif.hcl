mifbench {
  stack            = "DeepSeek R1"
  required_version = "latest"
}
