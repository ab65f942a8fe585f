package lang

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"sigs.k8s.io/yaml"
)

// YAML goes through sigs.k8s.io/yaml alone, so that a document means here what it means to
// kubectl and Helm: YAML 1.1 booleans included, anchors expanded, duplicate keys refused.

func yamlDecodeFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("text", cty.String)},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := decodeYAML(args[0].AsString())
			if err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return decodeYAML(args[0].AsString()) },
	})
}

func decodeYAML(text string) (cty.Value, error) {
	if n := documents(text); n > 1 {
		return cty.NilVal, fmt.Errorf("the text holds %d YAML documents and yamldecode reads one; split it, or use a manifest block with file", n)
	}
	js, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return cty.NilVal, fmt.Errorf("not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if bytes.Equal(bytes.TrimSpace(js), []byte("null")) {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	ty, err := ctyjson.ImpliedType(js)
	if err != nil {
		return cty.NilVal, err
	}
	return ctyjson.Unmarshal(js, ty)
}

// documents counts the documents that hold more than comments.
func documents(text string) int {
	n, content := 0, false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if line == "---" || strings.HasPrefix(line, "--- ") {
			content = strings.TrimSpace(line[3:]) != ""
			if content {
				n++
			}
			continue
		}
		t := strings.TrimSpace(line)
		if !content && t != "" && t != "..." && t[0] != '#' && t[0] != '%' {
			content = true
			n++
		}
	}
	return n
}

func yamlEncodeFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(cty.String), nil
			}
			js, err := ctyjson.Marshal(args[0], args[0].Type())
			if err != nil {
				return cty.NilVal, err
			}
			if !json.Valid(js) {
				return cty.NilVal, fmt.Errorf("the value has no YAML form")
			}
			out, err := yaml.JSONToYAML(js)
			return cty.StringVal(string(out)), err
		},
	})
}
