namespace "a" {
  name = 'bench'
}
