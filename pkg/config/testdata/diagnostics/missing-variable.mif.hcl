variable "client_node" {
  type        = string
  description = "Host name of the node on which the client runs."
}
