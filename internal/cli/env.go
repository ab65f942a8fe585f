package cli

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Env is all that the commands may touch of the process.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Interrupts delivers signals: the first asks for an orderly end, the second for an end now.
	Interrupts <-chan os.Signal
	// Executable is how this program was started, for starting it again.
	Executable                           string
	StdinIsTTY, StdoutIsTTY, StderrIsTTY bool
	// Width is the terminal's, in columns.
	Width int
}

// lookup returns an environment variable's value, "" when unset.
func (e Env) lookup(name string) string {
	value := ""
	for _, kv := range e.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// cacheDir is os.UserCacheDir by this environment, "" when it says nothing.
func (e Env) cacheDir() string {
	home := e.lookup("HOME")
	switch {
	case runtime.GOOS == "windows":
		return e.lookup("LocalAppData")
	case runtime.GOOS == "darwin" && home != "":
		return filepath.Join(home, "Library", "Caches")
	case filepath.IsAbs(e.lookup("XDG_CACHE_HOME")):
		return e.lookup("XDG_CACHE_HOME")
	case home != "":
		return filepath.Join(home, ".cache")
	}
	return ""
}
