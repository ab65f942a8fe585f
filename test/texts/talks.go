package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
)

type turn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

type conversation struct {
	ID            string `json:"id"`
	Conversations []turn `json:"conversations"`
}

// writeConversations makes conversations of two turns, each a part of a text.
func writeConversations(path string, texts map[string][]string) error {
	var all []conversation
	for _, name := range names(texts) {
		for i := 0; i+1 < len(texts[name]); i += 2 {
			all = append(all, conversation{ID: fmt.Sprintf("%s_%d", name, i/2), Conversations: []turn{
				{"human", texts[name][i]}, {"gpt", texts[name][i+1]},
			}})
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// writeLarge makes a file of about size bytes of two to twelve turns from random places of
// the texts, with the lengths that people and models have: a few words to a few pages.
func writeLarge(path string, texts map[string][]string, size int) error {
	var whole strings.Builder
	for _, name := range names(texts) {
		whole.WriteString(strings.Join(texts[name], "\n\n") + "\n\n")
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	written, sep := 0, "[\n"
	for i := 0; written < size && err == nil; i++ {
		c := conversation{ID: fmt.Sprintf("c%d_0", i)}
		for k := range 2 * (1 + rng.IntN(6)) {
			c.Conversations = append(c.Conversations, turn{[]string{"human", "gpt"}[k%2], cut(rng, whole.String(), 250+650*float64(k%2))})
		}
		var raw []byte
		if raw, err = json.MarshalIndent(c, "  ", "  "); err == nil {
			_, err = fmt.Fprintf(w, "%s  %s", sep, raw)
		}
		sep, written = ",\n", written+len(raw)+4
	}
	_, last := w.WriteString("\n]\n")
	return errors.Join(err, last, w.Flush(), f.Close())
}

// cut takes a part that begins at a word, its length spread around median.
func cut(rng *rand.Rand, text string, median float64) string {
	n := min(20000, int(median*math.Exp(rng.NormFloat64())))
	at := rng.IntN(len(text) - n - 200)
	at += strings.IndexByte(text[at:], ' ') + 1
	end := at + n + strings.IndexByte(text[at+n:], ' ')
	return strings.ToValidUTF8(text[at:end], "")
}
