package lang

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func (w World) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(w.Dir, p)
}

// readFunc is a function of a file's content.
func readFunc(w World, f func(b []byte) (string, error)) function.Function {
	return stringFunc([]string{"path"}, func(args []string) (string, error) {
		b, err := w.Read(w.path(args[0]))
		if err != nil {
			return "", err
		}
		return f(b)
	})
}

func fileFunc(w World) function.Function { return readFunc(w, text) }

func text(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", fmt.Errorf("the file is not UTF-8 text; use filebase64 for binary content")
	}
	return string(b), nil
}

func fileBase64Func(w World) function.Function {
	return readFunc(w, func(b []byte) (string, error) { return base64.StdEncoding.EncodeToString(b), nil })
}

func fileSHA256Func(w World) function.Function {
	return readFunc(w, func(b []byte) (string, error) {
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:]), nil
	})
}

func fileExistsFunc(w World) function.Function {
	return textFunc(cty.Bool, []string{"path"}, func(args []string) (cty.Value, error) {
		info, err := os.Stat(w.path(args[0]))
		switch {
		case os.IsNotExist(err):
			return cty.False, nil
		case err != nil:
			return cty.NilVal, err
		case info.Mode().IsRegular():
			return cty.True, nil
		}
		return cty.NilVal, fmt.Errorf("%s is not a regular file", args[0])
	})
}

func basenameFunc() function.Function {
	return stringFunc([]string{"path"}, func(args []string) (string, error) { return filepath.Base(args[0]), nil })
}

func dirnameFunc() function.Function {
	return stringFunc([]string{"path"}, func(args []string) (string, error) { return filepath.Dir(args[0]), nil })
}

func abspathFunc(w World) function.Function {
	return stringFunc([]string{"path"}, func(args []string) (string, error) { return filepath.Abs(w.path(args[0])) })
}

func pathExpandFunc(w World) function.Function {
	return stringFunc([]string{"path"}, func(args []string) (string, error) {
		rest, ok := strings.CutPrefix(args[0], "~")
		if !ok || rest != "" && rest[0] != '/' {
			return args[0], nil
		}
		home, found := w.Env("HOME")
		if !found {
			return "", fmt.Errorf("HOME is not set, so ~ cannot be expanded")
		}
		return home + rest, nil
	})
}

func envFunc(w World) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{param("name", cty.String)},
		VarParam: &function.Parameter{Name: "default", Type: cty.String, AllowNull: true},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if len(args) > 2 {
				return cty.NilVal, function.NewArgErrorf(2, "env takes a name and at most one default")
			}
			if v, ok := w.Env(name); ok {
				return cty.StringVal(v), nil
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "the environment variable %s is not set; set it, or give a default: env(%q, \"\")", name, name)
		},
	})
}
