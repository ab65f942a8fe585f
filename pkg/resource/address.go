package resource

import (
	"fmt"
	"strconv"
	"strings"
)

// Address names one block instance of a configuration: module.x.gateway.mif["a"].
// It is comparable and usable as a map key.
type Address struct {
	// Module is the dotted path of module names, without the word "module"; "" is the root.
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
	var b strings.Builder
	if a.Module != "" {
		for _, m := range strings.Split(a.Module, ".") {
			b.WriteString("module." + m + ".")
		}
	}
	b.WriteString(a.Kind + "." + a.Name)
	if a.Key != "" {
		b.WriteString("[" + a.Key + "]")
	}
	return b.String()
}

// StringKey is the Key of a for_each instance.
func StringKey(s string) string { return strconv.Quote(s) }

// IndexKey is the Key of a count instance.
func IndexKey(i int) string { return strconv.Itoa(i) }

// ParseAddress reads what String writes. The error says which part is wrong.
func ParseAddress(s string) (Address, error) {
	body, key, err := cutKey(s)
	if err != nil {
		return Address{}, err
	}
	parts := strings.Split(body, ".")
	var modules []string
	for len(parts) > 2 && parts[0] == "module" {
		modules = append(modules, parts[1])
		parts = parts[2:]
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return Address{}, fmt.Errorf("address %q is not of the form kind.name, kind.name[key] or module.m.kind.name", s)
	}
	return Address{Module: strings.Join(modules, "."), Kind: parts[0], Name: parts[1], Key: key}, nil
}

func cutKey(s string) (body, key string, err error) {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return s, "", nil
	}
	if !strings.HasSuffix(s, "]") {
		return "", "", fmt.Errorf("address %q: the key is not closed with ]", s)
	}
	key = s[open+1 : len(s)-1]
	if _, err := strconv.Atoi(key); err == nil {
		return s[:open], key, nil
	}
	if _, err := strconv.Unquote(key); err != nil {
		return "", "", fmt.Errorf("address %q: key %s is neither a number nor a quoted string", s, key)
	}
	return s[:open], key, nil
}
