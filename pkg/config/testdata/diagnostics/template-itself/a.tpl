${templatefile("a.tpl", { n = 2 })}
