package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxFile bounds tokenizer.json, bytes; the largest in use has 35 MB.
const maxFile = 512 << 20

// Load reads tokenizer.json, given by itself or by its directory, and tokenizer_config.json
// beside it if there is one. Everything unknown is refused by name.
func Load(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
		if info, err = os.Stat(path); err != nil {
			return nil, fmt.Errorf("tokenizer: %w; the directory of a model has one, or its path is given", err)
		}
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("tokenizer %s: %d bytes are more than any tokenizer.json has", path, info.Size())
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := parse(src)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	t.path = path
	config := filepath.Join(filepath.Dir(path), "tokenizer_config.json")
	if err := t.readConfig(config); err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", config, err)
	}
	return t, nil
}

func parse(src []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(src, &f); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(src)
	t := &Tokenizer{hash: hex.EncodeToString(sum[:]), special: map[int32]bool{}, facts: Facts{BOS: -1}}
	var err error
	if t.normal, err = normalizers(f.Normalizer); err != nil {
		return nil, err
	}
	byteLevel, err := t.preTokenizers(f.PreTokenizer)
	if err != nil {
		return nil, err
	}
	if err := t.model.load(&f.Model, byteLevel); err != nil {
		return nil, err
	}
	if err := t.nameIDs(&f); err != nil {
		return nil, err
	}
	t.addTokens(f.AddedTokens, usesNFC(f.Normalizer))
	return t, t.post(f.PostProcessor)
}

func usesNFC(n *normalizerSpec) bool {
	if n == nil {
		return false
	}
	for i := range n.Normalizers {
		if usesNFC(&n.Normalizers[i]) {
			return true
		}
	}
	return n.Type == "NFC"
}

// nameIDs fills the table from id to bytes.
func (t *Tokenizer) nameIDs(f *file) error {
	top := int32(-1)
	check := func(id int32) error {
		if top = max(top, id); id < 0 || id > 1<<24 {
			return fmt.Errorf("token id %d is out of range", id)
		}
		return nil
	}
	for _, id := range f.Model.Vocab {
		if err := check(id); err != nil {
			return err
		}
	}
	for _, a := range f.AddedTokens {
		if err := check(a.ID); err != nil {
			return err
		}
	}
	t.texts = make([]string, top+1)
	for s, id := range f.Model.Vocab {
		t.texts[id] = s
		if t.model.chars {
			t.texts[id] = strings.ReplaceAll(s, "▁", " ")
		}
	}
	if !t.model.chars {
		for s, id := range t.model.vocab {
			t.texts[id] = s
		}
	}
	for b, id := range t.model.bytes {
		if id >= 0 && t.model.chars {
			t.texts[id] = string([]byte{byte(b)})
		}
	}
	return nil
}

func (t *Tokenizer) addTokens(tokens []added, nfc bool) {
	var raw, normed, control []added
	for _, a := range tokens {
		t.texts[a.ID] = a.Content
		if t.model.chars {
			t.texts[a.ID] = strings.ReplaceAll(a.Content, "▁", " ")
		}
		t.special[a.ID] = a.Special
		if a.Special || strings.ContainsAny(a.Content, "|｜") {
			control = append(control, a)
		}
		if !a.Normalized {
			raw = append(raw, a)
			continue
		}
		if nfc {
			a.Content = norm.NFC.String(a.Content)
		}
		normed = append(normed, a)
	}
	t.raw, t.normed, t.control = newMatcher(raw), newMatcher(normed), newMatcher(control)
}

// load checks the model and builds its tables.
func (m *model) load(spec *modelSpec, byteLevel bool) error {
	switch {
	case spec.Type != "BPE":
		return fmt.Errorf("model %q is not supported; BPE is", spec.Type)
	case spec.Dropout != nil && *spec.Dropout > 0:
		return errors.New("BPE with dropout is not supported: its ids are random")
	case spec.ContinuingSubwordPrefix != nil && *spec.ContinuingSubwordPrefix != "":
		return errors.New("BPE with continuing_subword_prefix is not supported")
	case spec.EndOfWordSuffix != nil && *spec.EndOfWordSuffix != "":
		return errors.New("BPE with end_of_word_suffix is not supported")
	case !byteLevel && !spec.ByteFallback:
		return errors.New("BPE that is neither byte-level nor with byte_fallback is not supported")
	case byteLevel && spec.ByteFallback:
		return errors.New("byte-level BPE with byte_fallback is not supported")
	}
	m.chars, m.fuseUnk, m.ignoreMerges, m.unk = !byteLevel, spec.FuseUnk, spec.IgnoreMerges, -1
	if m.chars && m.ignoreMerges {
		return errors.New("BPE with both byte_fallback and ignore_merges is not supported")
	}
	if err := m.symbols(spec); err != nil {
		return err
	}
	return m.readMerges(spec)
}

// symbols fills vocab and the table of bytes.
func (m *model) symbols(spec *modelSpec) error {
	if m.chars {
		m.vocab = spec.Vocab
		if spec.UnkToken != nil {
			if id, ok := spec.Vocab[*spec.UnkToken]; ok {
				m.unk = id
			}
		}
		for b := range m.bytes {
			id, ok := spec.Vocab[fmt.Sprintf("<0x%02X>", b)]
			if !ok {
				id = -1
			}
			m.bytes[b] = id
		}
		return nil
	}
	table := byteLevelRunes()
	m.vocab = make(map[string]int32, len(spec.Vocab))
	for s, id := range spec.Vocab {
		if raw, ok := rawBytes(s, table); ok {
			m.vocab[raw] = id
		}
	}
	for b := range m.bytes {
		id, ok := m.vocab[string([]byte{byte(b)})]
		if !ok {
			return fmt.Errorf("byte-level BPE without a token for byte 0x%02x is not supported", b)
		}
		m.bytes[b] = id
	}
	return nil
}

// readMerges reads both formats: "a b" and ["a", "b"].
func (m *model) readMerges(spec *modelSpec) error {
	var pairs [][2]string
	if err := json.Unmarshal(spec.Merges, &pairs); err != nil {
		var lines []string
		if err := json.Unmarshal(spec.Merges, &lines); err != nil {
			return fmt.Errorf("merges: %w", err)
		}
		pairs = make([][2]string, len(lines))
		for i, s := range lines {
			a, b, _ := strings.Cut(s, " ")
			pairs[i] = [2]string{a, b}
		}
	}
	m.merges, m.seed = newPairTable(len(pairs)), maphash.MakeSeed()
	for rank, p := range pairs {
		a, ok1 := spec.Vocab[p[0]]
		b, ok2 := spec.Vocab[p[1]]
		c, ok3 := spec.Vocab[p[0]+p[1]]
		if !ok1 || !ok2 || !ok3 {
			return fmt.Errorf("merge %d (%q %q) is not in the vocabulary", rank, p[0], p[1])
		}
		// A later duplicate wins, as in the reference library.
		m.merges.set(a, b, int32(rank), c) //nolint:gosec // ranks are small
	}
	if m.chars {
		m.joints = newJoints(pairs, spec.Vocab, &m.bytes)
	}
	return nil
}
