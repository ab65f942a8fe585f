package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// parsePython parses a command line written for argparse: flags with several values, --no-x
// for a switch, underscores for dashes. It tells whether help was asked for.
func parsePython(cmd *cobra.Command, f *serveFlags, args []string) (help bool, err error) {
	fs := cmd.Flags()
	cmd.DisableFlagParsing = false
	if err := cmd.ParseFlags(pythonArgs(fs, args)); err != nil {
		return false, flagError(err)
	}
	if help, err := fs.GetBool("help"); err == nil && help {
		return true, nil
	}
	f.given = fs.Changed
	err = f.check()
	if rest := fs.Args(); len(rest) > 0 {
		err = errors.Join(err, fmt.Errorf("argument %q belongs to no flag", rest[0]))
	}
	if err != nil {
		return false, flagError(err)
	}
	return false, nil
}

// pythonArgs rewrites an argparse command line for pflag.
func pythonArgs(fs *pflag.FlagSet, args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") || name == "" {
			out = append(out, arg)
			continue
		}
		name = strings.ReplaceAll(name, "_", "-")
		out = append(out, "--"+name)
		if joined {
			out[len(out)-1] += "=" + value
		}
		flag := fs.Lookup(name)
		switch {
		case flag == nil && !joined && isSwitch(fs.Lookup(strings.TrimPrefix(name, "no-"))):
			out[len(out)-1] = "--" + strings.TrimPrefix(name, "no-") + "=false"
		case flag != nil && !joined && isMany(flag):
			out = out[:len(out)-1]
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				out = append(out, "--"+name+"="+args[i])
			}
		case flag != nil && !joined && flag.NoOptDefVal == "" && i+1 < len(args):
			i++ // its value, whatever it looks like
			out = append(out, args[i])
		}
	}
	return out
}

func isSwitch(f *pflag.Flag) bool { return f != nil && f.Value.Type() == "bool" }

func isMany(f *pflag.Flag) bool {
	_, ok := f.Value.(*manyValue)
	return ok
}

// manyValue collects the values of a flag that takes several, and may come again.
type manyValue struct {
	list *[]string
	kind string
}

func (v *manyValue) String() string { return "" }
func (v *manyValue) Type() string   { return v.kind + "..." } // ASCII: the help is aligned by bytes
func (v *manyValue) Set(s string) error {
	*v.list = append(*v.list, s)
	return nil
}

// refusedValue is the value of a flag that this version cannot obey. Its default, written
// out, changes nothing and is let through.
type refusedValue struct {
	name     string
	fallback string
	given    bool
	boolean  bool
}

func (v *refusedValue) String() string { return v.fallback }
func (v *refusedValue) Type() string {
	if v.boolean {
		return "bool"
	}
	return "VALUE"
}

func (v *refusedValue) Set(s string) error {
	same := s == v.fallback || strings.TrimSuffix(s, ".0") == strings.TrimSuffix(v.fallback, ".0")
	v.given = !same && (!v.boolean || s != "false")
	return nil
}

// pairs splits K=V values at the first sign.
func pairs(flag, sign string, values []string) ([][2]string, error) {
	var out [][2]string
	for _, v := range values {
		k, val, ok := strings.Cut(v, sign)
		if !ok || strings.TrimSpace(k) == "" {
			return nil, fmt.Errorf("--%s %q is not of the form KEY%sVALUE", flag, v, sign)
		}
		out = append(out, [2]string{strings.TrimSpace(k), strings.TrimSpace(val)})
	}
	return out, nil
}

// listed splits a comma list; empty parts are left out.
func listed(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}
