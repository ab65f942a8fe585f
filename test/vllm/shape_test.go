package vllm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// literal are the members whose values are compared, not only their types: what clients
// branch on. Numbers of tokens and texts differ between a model and a simulation.
var literal = []string{"object", "role", "finish_reason", "stop_reason", "type", "param", "code", "error", "detail", "index", "owned_by"}

// shapeOf reduces JSON to its members in their order with the types of their values.
func shapeOf(b []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out strings.Builder
	if err := value(d, &out, ""); err != nil {
		return "", err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("more than one value")
	}
	return out.String(), nil
}

func value(d *json.Decoder, out *strings.Builder, key string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch v := t.(type) {
	case json.Delim:
		return inside(d, out, v)
	case string:
		scalar(out, key, "string", fmt.Sprintf("%q", v))
	case json.Number:
		scalar(out, key, "number", v.String())
	case bool:
		out.WriteString("bool")
	case nil:
		out.WriteString("null")
	}
	return nil
}

func scalar(out *strings.Builder, key, kind, text string) {
	if slices.Contains(literal, key) {
		kind = text
	}
	out.WriteString(kind)
}

// inside writes an object or an array; equal neighbours of an array are written once.
func inside(d *json.Decoder, out *strings.Builder, open json.Delim) error {
	out.WriteString(open.String())
	last := ""
	for first := true; d.More(); first = false {
		var item strings.Builder
		key := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return err
			}
			key, _ = t.(string)
			item.WriteString(key + ":")
		}
		if err := value(d, &item, key); err != nil {
			return err
		}
		if item.String() == last {
			continue
		}
		if last = item.String(); !first {
			out.WriteString(",")
		}
		out.WriteString(last)
	}
	t, err := d.Token()
	if err == nil {
		fmt.Fprint(out, t)
	}
	return err
}

// answer is what a server said, reduced to what two servers must agree on.
type answer struct {
	Status int
	Type   string // content type
	// Lines is the shape of a JSON body, or of each event of a stream; runs of equal
	// events are one line with their number.
	Lines []string
}

func reduce(status int, contentType string, body []byte) (answer, error) {
	a := answer{Status: status, Type: contentType}
	if !strings.HasPrefix(contentType, "text/event-stream") {
		if len(body) == 0 {
			return a, nil
		}
		s, err := shapeOf(body)
		a.Lines = []string{s}
		return a, err
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(part, "data: ")
		if !ok {
			return a, fmt.Errorf("event %q does not begin with data", part)
		}
		line := data
		if data != "[DONE]" {
			var err error
			if line, err = shapeOf([]byte(data)); err != nil {
				return a, fmt.Errorf("event %q: %w", part, err)
			}
		}
		a.Lines = append(a.Lines, line)
	}
	a.Lines = runs(a.Lines)
	return a, nil
}

// runs writes equal neighbours once, with their number.
func runs(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && lines[n] == lines[i] {
			n++
		}
		if n-i > 1 {
			out = append(out, fmt.Sprintf("%d × %s", n-i, lines[i]))
		} else {
			out = append(out, lines[i])
		}
		i = n
	}
	return out
}
