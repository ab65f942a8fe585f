mifbench {
  backend "s3" {
    bucket = "state"
  }
}
