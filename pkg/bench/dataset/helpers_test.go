package dataset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// prose is seeded text of about size bytes with words, sentences and paragraphs.
func prose(seed uint64, size int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < size {
		for range 1 + rng.IntN(4) {
			for range 1 + rng.IntN(3) {
				b.WriteByte("bcdfgklmnprstvz"[rng.IntN(15)])
				b.WriteByte("aeiou"[rng.IntN(5)])
			}
			b.WriteByte(' ')
		}
		b.WriteString([]string{"and ", ". ", ", ", "\n\n", "42 ", "don't "}[rng.IntN(6)])
	}
	return b.String()
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// words is how the test server counts: pieces of at most 4 characters of each word.
func words(text string) (n int) {
	for _, w := range strings.Fields(text) {
		n += (len(w) + 3) / 4
	}
	return n
}

// tokenizeServer answers /tokenize as vLLM does, with special tokens of its own.
func tokenizeServer(t *testing.T, special int) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt  string `json:"prompt"`
			Special *bool  `json:"add_special_tokens"`
		}
		if r.URL.Path != "/tokenize" || json.NewDecoder(r.Body).Decode(&q) != nil {
			http.NotFound(w, r)
			return
		}
		n := words(q.Prompt)
		if q.Special == nil || *q.Special {
			n += special
		}
		fmt.Fprintf(w, `{"count":%d,"max_model_len":4096,"tokens":[]}`, n)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// shareGPT is a file of n conversations.
func shareGPT(t *testing.T, n int) string {
	t.Helper()
	type turn struct {
		From  string `json:"from"`
		Value string `json:"value"`
	}
	type one struct {
		ID            string `json:"id"`
		Conversations []turn `json:"conversations"`
	}
	var all []one
	for i := range n {
		all = append(all, one{fmt.Sprint(i), []turn{{"human", prose(uint64(2*i), 300)}, {"gpt", prose(uint64(2*i+1), 900)}}})
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "share.json", string(b))
}
