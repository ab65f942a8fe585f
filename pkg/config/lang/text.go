package lang

import (
	"crypto/md5"  //nolint:gosec // offered for compatibility, not for security
	"crypto/sha1" //nolint:gosec // offered for compatibility, not for security
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func param(name string, ty cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: ty}
}

// stringFunc is a function of texts that gives a text.
func stringFunc(names []string, f func(args []string) (string, error)) function.Function {
	return textFunc(cty.String, names, func(args []string) (cty.Value, error) {
		s, err := f(args)
		return cty.StringVal(s), err
	})
}

func textFunc(result cty.Type, names []string, f func(args []string) (cty.Value, error)) function.Function {
	params := make([]function.Parameter, len(names))
	for i, n := range names {
		params[i] = param(n, cty.String)
	}
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			texts := make([]string, len(args))
			for i, a := range args {
				texts[i] = a.AsString()
			}
			return f(texts)
		},
	})
}

func predicate(names []string, f func(a, b string) bool) function.Function {
	return textFunc(cty.Bool, names, func(args []string) (cty.Value, error) {
		return cty.BoolVal(f(args[0], args[1])), nil
	})
}

func startsWithFunc() function.Function {
	return predicate([]string{"text", "prefix"}, strings.HasPrefix)
}
func endsWithFunc() function.Function {
	return predicate([]string{"text", "suffix"}, strings.HasSuffix)
}
func strContainsFunc() function.Function {
	return predicate([]string{"text", "part"}, strings.Contains)
}

func hashFunc(sum func(string) []byte) function.Function {
	return stringFunc([]string{"text"}, func(args []string) (string, error) {
		return hex.EncodeToString(sum(args[0])), nil
	})
}

func md5Func() function.Function {
	return hashFunc(func(s string) []byte { h := md5.Sum([]byte(s)); return h[:] }) //nolint:gosec // see the import
}
func sha1Func() function.Function {
	return hashFunc(func(s string) []byte { h := sha1.Sum([]byte(s)); return h[:] }) //nolint:gosec // see the import
}
func sha256Func() function.Function {
	return hashFunc(func(s string) []byte { h := sha256.Sum256([]byte(s)); return h[:] })
}

func base64EncodeFunc() function.Function {
	return stringFunc([]string{"text"}, func(args []string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(args[0])), nil
	})
}

func base64DecodeFunc() function.Function {
	return stringFunc([]string{"text"}, func(args []string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(args[0])
		if err != nil {
			return "", fmt.Errorf("not Base64: %w", err)
		}
		if !utf8.Valid(b) {
			return "", fmt.Errorf("the decoded bytes are not UTF-8 text")
		}
		return string(b), nil
	})
}

func urlEncodeFunc() function.Function {
	return stringFunc([]string{"text"}, func(args []string) (string, error) { return url.QueryEscape(args[0]), nil })
}

// replaceFunc has Terraform's rule: a part between slashes is a regular expression.
func replaceFunc() function.Function {
	return stringFunc([]string{"text", "part", "replacement"}, func(args []string) (string, error) {
		part := args[1]
		if len(part) > 1 && part[0] == '/' && part[len(part)-1] == '/' {
			re, err := regexp.Compile(part[1 : len(part)-1])
			if err != nil {
				return "", err
			}
			if len(args[0]) > 0 && len(args[2]) > maxText/len(args[0]) {
				return "", fmt.Errorf("text and replacement are too long for a regular expression")
			}
			return re.ReplaceAllString(args[0], args[2]), nil
		}
		if n := strings.Count(args[0], part); n > 0 && len(args[2]) > maxText/n {
			return "", fmt.Errorf("the result would be longer than %d MiB", maxText>>20)
		}
		return strings.ReplaceAll(args[0], part, args[2]), nil
	})
}

// lengthFunc adds texts to the standard library's collections.
func lengthFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowMarked: true}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			raw, marks := args[0].Unmark()
			switch ty := raw.Type(); {
			case ty == cty.String:
				return stdlib.Strlen(args[0])
			case ty.IsObjectType():
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(marks), nil
			}
			return stdlib.Length(args[0])
		},
	})
}
