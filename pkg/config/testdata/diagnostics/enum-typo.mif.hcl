ecr_credentials "moreh" {
  namespace = "bench"
  registry  = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
  mode      = "replicate"
}
