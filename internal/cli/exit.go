package cli

import (
	"errors"
	"fmt"
)

// Exit codes, part of the interface.
const (
	exitOK          = 0
	exitFailed      = 1
	exitPending     = 2   // plan --detailed-exitcode: there are changes
	exitMissed      = 3   // a threshold, SLO or reference was missed
	exitInterrupted = 130 // interrupted, with state and records saved
)

// exitError ends a command with a code. A nil cause means that all has been said.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

// quiet ends with a code after the command has said what is to be said.
func quiet(code int) error { return &exitError{code: code} }

// codeOf is the exit code of a command's error.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}
