package resource

import (
	"fmt"
	"strconv"
	"strings"
)

// Address names one block instance of a configuration: module.x.gateway.mif["a"].
// It is comparable and usable as a map key.
type Address struct {
	// Module is the dotted path of module names with their keys, without the word "module":
	// x["a"].inner; "" is the root.
	Module string `json:"module,omitempty"`
	// Kind is the block type, e.g. "namespace".
	Kind string `json:"kind"`
	// Name is the block's label.
	Name string `json:"name"`
	// Key is the instance key in source form: `"a"` for for_each, `0` for count, "" for neither.
	Key string `json:"key,omitempty"`
}

// String is the one textual form of an address, as users type it.
func (a Address) String() string {
	return ModulePrefix(a.Module) + Keyed(a.Kind+"."+a.Name, a.Key)
}

// ModulePrefix is a module's path as it stands in front of addresses: module.x["a"].module.y.
// with the last dot; "" for the root.
func ModulePrefix(path string) string {
	var b strings.Builder
	for path != "" {
		var m string
		m, path = cutStep(path)
		b.WriteString("module." + m + ".")
	}
	return b.String()
}

// Keyed is a name with an instance key, in source form; "" is none.
func Keyed(name, key string) string {
	if key == "" {
		return name
	}
	return name + "[" + key + "]"
}

// StringKey is the Key of a for_each instance.
func StringKey(s string) string { return strconv.Quote(s) }

// IndexKey is the Key of a count instance.
func IndexKey(i int) string { return strconv.Itoa(i) }

// ParseAddress reads what String writes. The error says which part is wrong.
func ParseAddress(s string) (Address, error) {
	var names, keys []string
	for rest := s; rest != ""; {
		var one string
		one, rest = cutStep(rest)
		name, key, err := cutKey(one)
		if err != nil {
			return Address{}, fmt.Errorf("address %q: %w", s, err)
		}
		names, keys = append(names, name), append(keys, key)
	}
	var modules []string
	for len(names) > 2 && names[0] == "module" && keys[0] == "" {
		modules = append(modules, Keyed(names[1], keys[1]))
		names, keys = names[2:], keys[2:]
	}
	if len(names) != 2 || names[0] == "" || names[0] == "module" || names[1] == "" || keys[0] != "" || strings.HasSuffix(s, ".") {
		return Address{}, fmt.Errorf("address %q is not of the form kind.name, kind.name[key] or module.m.kind.name", s)
	}
	return Address{Module: strings.Join(modules, "."), Kind: names[0], Name: names[1], Key: keys[1]}, nil
}

// cutStep takes the first name with its key off a dotted path; dots in keys do not count.
func cutStep(path string) (one, rest string) {
	quoted := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func cutKey(s string) (name, key string, err error) {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		if strings.ContainsAny(s, `"]`) {
			return "", "", fmt.Errorf("%s is no name", s)
		}
		return s, "", nil
	}
	if strings.ContainsAny(s[:open], `"]`) {
		return "", "", fmt.Errorf("%s is no name", s[:open])
	}
	if !strings.HasSuffix(s, "]") {
		return "", "", fmt.Errorf("the key is not closed with ]")
	}
	key = s[open+1 : len(s)-1]
	if _, err := strconv.Atoi(key); err == nil {
		return s[:open], key, nil
	}
	if text, err := strconv.Unquote(key); err == nil && key[0] == '"' {
		return s[:open], StringKey(text), nil
	}
	return "", "", fmt.Errorf("key %s is neither a number nor a quoted string", key)
}
