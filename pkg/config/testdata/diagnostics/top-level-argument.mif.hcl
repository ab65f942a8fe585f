stack = "x"
