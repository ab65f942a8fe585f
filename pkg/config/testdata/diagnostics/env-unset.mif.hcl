output "x" {
  value = env("MIFBENCH_TEST_UNSET")
}
