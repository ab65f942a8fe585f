package kubestate

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/pkg/state"
)

// Names of labels and keys in the Secrets.
const (
	labelState  = "mifbench.io/state"
	labelSerial = "mifbench.io/state-serial" // on the further chunks only
	keyIndex    = "index"
	keyChunk    = "chunk"
)

// DefaultChunk is the largest part in one Secret, in bytes: the API server refuses more than
// 1 MiB of data, and the rest of the object needs room.
const DefaultChunk = 900 << 10

// index describes the parts; it is stored beside the first.
type index struct {
	Version int    `json:"version"`
	Lineage string `json:"lineage"`
	Stack   string `json:"stack"`
	Serial  uint64 `json:"serial"`
	Chunks  int    `json:"chunks"`
	// Former is Chunks of the state before: its parts are deleted by the save after this one, so
	// that a failure to delete never looks like a failure to save.
	Former int `json:"former,omitempty"`
	// SHA256 is of all parts together (gzip of state.Encode).
	SHA256 string `json:"sha256"`
}

// Store keeps one state. Make it with New.
type Store struct {
	secrets         Secrets
	leases          Leases
	namespace, name string
	// Chunk is the size of a part, Duration the life of a lock without renewal.
	chunk    int
	duration time.Duration
	// lost is set when the lock that this process held was taken by somebody else.
	lost atomic.Pointer[string]
}

var (
	_ state.Store = (*Store)(nil)
	_ state.Aside = (*Store)(nil)
)

// New is the store of the state called name; secrets and leases are client-go's clients for
// namespace. Nothing is read or written yet.
func New(secrets Secrets, leases Leases, namespace, name string) *Store {
	return &Store{secrets: secrets, leases: leases, namespace: namespace, name: name, chunk: DefaultChunk, duration: time.Minute}
}

func (s *Store) secretName() string { return "mifbench-state-" + s.name }

func (s *Store) where() string { return "Secret " + s.namespace + "/" + s.secretName() }

// Load reads the state.
func (s *Store) Load(ctx context.Context) (state.State, error) {
	_, idx, first, err := s.head(ctx)
	if err != nil || idx == nil {
		return state.State{}, err
	}
	text := bytes.Clone(first)
	for i := 1; i < idx.Chunks; i++ {
		part, err := s.secrets.Get(ctx, s.chunkName(idx.Serial, i), meta.GetOptions{})
		if err != nil {
			return state.State{}, fmt.Errorf("read part %d of %d of the state in %s: %w", i+1, idx.Chunks, s.where(), err)
		}
		text = append(text, part.Data[keyChunk]...)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != idx.SHA256 {
		return state.State{}, fmt.Errorf("%s: %w: its parts do not match their checksum; `mifbench state recover` rebuilds it from the cluster", s.where(), state.ErrDamaged)
	}
	plain, err := unzip(text)
	if err != nil {
		return state.State{}, fmt.Errorf("%s: %w: %w", s.where(), state.ErrDamaged, err)
	}
	st, err := state.Decode(plain)
	if err != nil {
		return state.State{}, fmt.Errorf("%s: %w", s.where(), err)
	}
	return st, nil
}

// head reads the first Secret; idx is nil when there is none.
func (s *Store) head(ctx context.Context) (secret *core.Secret, idx *index, first []byte, err error) {
	secret, err = s.secrets.Get(ctx, s.secretName(), meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the state in %s: %w", s.where(), err)
	}
	idx = &index{}
	if err := json.Unmarshal(secret.Data[keyIndex], idx); err != nil || idx.Chunks < 1 {
		return nil, nil, nil, fmt.Errorf("%s: %w: its index cannot be read", s.where(), state.ErrDamaged)
	}
	if idx.Version > state.Version {
		return nil, nil, nil, fmt.Errorf("%s: %w", s.where(), state.ErrNewer)
	}
	return secret, idx, secret.Data[keyChunk], nil
}

// Save writes the further parts under names of the new serial first and the first Secret, with
// the index, last: a crash in between leaves the former state whole. What a bad connection or a
// busy server refused is written again.
func (s *Store) Save(ctx context.Context, next state.State) error {
	return retry(ctx, func() error { return s.save(ctx, next) })
}

func (s *Store) save(ctx context.Context, next state.State) error {
	if by := s.lost.Load(); by != nil {
		return fmt.Errorf("%s: %w: %s", s.where(), state.ErrMoved, *by)
	}
	secret, idx, _, err := s.head(ctx)
	if err != nil {
		return err
	}
	if same, err := s.stored(idx, next); same || err != nil {
		return err // by an attempt whose answer was lost
	}
	if err := successor(idx, next); err != nil {
		return fmt.Errorf("%s: %w", s.where(), err)
	}
	former := 0
	if idx != nil {
		former = idx.Chunks
		if max(idx.Chunks, idx.Former) > 1 {
			if err := s.sweep(ctx, idx.Serial); err != nil {
				return err
			}
		}
	}
	parts, newIndex, err := s.split(next, former)
	if err != nil {
		return err
	}
	for i := 1; i < len(parts); i++ {
		if err := s.putChunk(ctx, next.Serial, i, parts[i]); err != nil {
			return err
		}
	}
	return s.putHead(ctx, secret, newIndex, parts[0])
}

// stored tells that exactly this state is there already.
func (s *Store) stored(idx *index, next state.State) (bool, error) {
	if idx == nil || idx.Serial != next.Serial || idx.Lineage != next.Lineage {
		return false, nil
	}
	_, text, err := s.split(next, idx.Former)
	if err != nil {
		return false, err
	}
	var mine index
	if err := json.Unmarshal(text, &mine); err != nil {
		return false, fmt.Errorf("index of the state: %w", err)
	}
	return mine == *idx, nil
}

func successor(stored *index, next state.State) error {
	switch {
	case stored == nil:
		return nil
	case stored.Lineage != next.Lineage:
		return fmt.Errorf("%w: stored %s (stack %q), this one is %s (stack %q)", state.ErrLineage, stored.Lineage, stored.Stack, next.Lineage, next.Stack)
	case stored.Serial+1 != next.Serial:
		return fmt.Errorf("%w: stored serial %d, this one would be %d", state.ErrMoved, stored.Serial, next.Serial)
	}
	return nil
}

func (s *Store) split(st state.State, former int) (parts [][]byte, text []byte, err error) {
	plain, err := state.Encode(st)
	if err != nil {
		return nil, nil, err
	}
	packed, err := zip(plain)
	if err != nil {
		return nil, nil, fmt.Errorf("compress the state: %w", err)
	}
	sum := sha256.Sum256(packed)
	for len(packed) > s.chunk {
		parts = append(parts, packed[:s.chunk:s.chunk])
		packed = packed[s.chunk:]
	}
	parts = append(parts, packed)
	text, err = json.Marshal(index{
		Version: state.Version, Lineage: st.Lineage, Stack: st.Stack, Serial: st.Serial,
		Chunks: len(parts), Former: former, SHA256: hex.EncodeToString(sum[:]),
	})
	return parts, text, err
}

// putHead creates or updates the first Secret; the resource version makes a concurrent save fail.
func (s *Store) putHead(ctx context.Context, old *core.Secret, idx, first []byte) error {
	secret := s.secret(s.secretName(), map[string]string{})
	secret.Data = map[string][]byte{keyIndex: idx, keyChunk: first}
	var err error
	if old == nil {
		_, err = s.secrets.Create(ctx, secret, meta.CreateOptions{})
	} else {
		secret.ResourceVersion, secret.UID = old.ResourceVersion, old.UID
		_, err = s.secrets.Update(ctx, secret, meta.UpdateOptions{})
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%s: %w: %w", s.where(), state.ErrMoved, err)
	}
	if err != nil {
		return fmt.Errorf("write the state to %s: %w", s.where(), err)
	}
	return nil
}

// putChunk writes one further part; one that a killed save left under the same name is replaced.
func (s *Store) putChunk(ctx context.Context, serial uint64, i int, part []byte) error {
	secret := s.secret(s.chunkName(serial, i), map[string]string{labelSerial: strconv.FormatUint(serial, 10)})
	secret.Data = map[string][]byte{keyChunk: part}
	_, err := s.secrets.Create(ctx, secret, meta.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = s.secrets.Update(ctx, secret, meta.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write part %d of the state to Secret %s/%s: %w", i+1, s.namespace, secret.Name, err)
	}
	return nil
}

// sweep deletes the parts of other serials than the stored one: former states and what killed
// saves left.
func (s *Store) sweep(ctx context.Context, serial uint64) error {
	selector := fmt.Sprintf("%s=%s,%s,%s!=%d", labelState, s.name, labelSerial, labelSerial, serial)
	err := s.secrets.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("delete the former parts of the state in %s: %w", s.where(), err)
	}
	return nil
}

func (s *Store) chunkName(serial uint64, i int) string {
	return fmt.Sprintf("%s-%d-%d", s.secretName(), serial, i)
}

func (s *Store) secret(name string, labels map[string]string) *core.Secret {
	labels["app.kubernetes.io/managed-by"], labels[labelState] = "mifbench", s.name
	return &core.Secret{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: s.namespace, Labels: labels}, Type: "mifbench.io/state"}
}

func zip(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
