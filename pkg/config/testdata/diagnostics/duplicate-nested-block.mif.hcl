ecr_credentials "moreh" {
  namespace = "bench"
  registry  = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
  mode      = "aws"
  refresh { schedule = "0 */6 * * *" }
  refresh { schedule = "0 */3 * * *" }
}
