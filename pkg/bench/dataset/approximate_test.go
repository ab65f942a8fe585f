package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextIsDeterministicAndBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := NewText(TextOptions{Path: path, Tokens: 100, Seed: 7, Prompts: 5})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewText(TextOptions{Path: filepath.Dir(path), Tokens: 100, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(50) {
		p, err := a.Prompt(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		q, _ := b.Prompt(t.Context(), i%5)
		if n := len(p.Text); n < 380 || n > 404 {
			t.Errorf("prompt %d has %d characters, want about 400", i, n)
		}
		if i < 5 && abs(len(p.Text)-len(q.Text)) > 0 {
			t.Errorf("prompt %d differs between equal sources", i)
		}
		again, _ := a.Prompt(t.Context(), i%5)
		if again.Text != p.Text {
			t.Errorf("prompt %d does not repeat prompt %d", i, i%5)
		}
	}
	if a.Info().Exact || !strings.Contains(a.Info().LengthRule, "approximate") {
		t.Errorf("info %+v hides the approximation", a.Info())
	}
}

func TestTextRefusesTooLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewText(TextOptions{Path: path, Tokens: 100}); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("error %v", err)
	}
	if _, err := NewText(TextOptions{Path: t.TempDir(), Tokens: 100}); err == nil || !strings.Contains(err.Error(), "no .txt") {
		t.Errorf("error %v", err)
	}
}

func abs(n int) int { return max(n, -n) }
