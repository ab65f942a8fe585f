resource "namespace" "bench" {
  name = "bench"
}

provider "kubernetes" {}
