package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// approve asks for the word yes, as Terraform does. Without a terminal there is nobody to
// ask, and the answer must be given by flag.
func (a *app) approve(ctx context.Context, question string) error {
	if !a.env.StdinIsTTY {
		return errors.New("approval is needed and standard input is not a terminal; give --auto-approve when the plan is known to be right")
	}
	fmt.Fprintf(a.env.Stderr, "\n%s\n  Only \"yes\" approves.\n\n  Enter a value: ", question)
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		a.say("")
		return &exitError{code: exitInterrupted, cause: errors.New("interrupted; nothing was changed")}
	case line := <-answer:
		if line != "yes" {
			return errors.New("not approved; nothing was changed")
		}
		return nil
	}
}
