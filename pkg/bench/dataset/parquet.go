package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// openParquet is the kind "parquet": one file or a directory of shards, text in a column.
func openParquet(ctx context.Context, o *opening) (Source, error) {
	files, err := filesBelow(o.Path, ".parquet")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no .parquet file in the directory")
	}
	if o.Language != "" {
		if files, err = ofLanguage(files, o.Language); err != nil {
			return nil, err
		}
	}
	return openShards(ctx, o, files, func(b []byte) []byte { return b })
}

// spool is a plain copy of the texts read from shards, in a file without a name.
type spool struct {
	f      *os.File
	hash   hash.Hash
	bodies []body
	size   int64
	limit  int64
	path   string // of the shard that is read
	group  int
	bad    faulty
}

// openShards reads shards in order, one page at a time, until there is text for the
// prompts wanted, and lays the texts end to end. Which prompts there are therefore
// depends on Prompts, rounded up to whole row groups; the hash is of the text read.
func openShards(ctx context.Context, o *opening, files []string, strip func([]byte) []byte) (Source, error) {
	sp, err := newSpool(o)
	if err != nil {
		return nil, err
	}
	if err := sp.fill(ctx, files, o.Column, strip); err != nil {
		return nil, errors.Join(err, sp.f.Close())
	}
	s := newStream(sp.bodies, o.budget()*bytesPerToken, o.Seed)
	s.at = sp.f
	return newStreamPieces(ctx, o, s, sumOf(sp.hash), sp.bad.warning("texts"))
}

func newSpool(o *opening) (*spool, error) {
	f, err := os.CreateTemp(o.CacheDir, "mifbench-text-*")
	if err != nil {
		return nil, fmt.Errorf("room for the text of the shards: %w", err)
	}
	// The file lives as long as it is open and leaves nothing behind.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	sp := &spool{f: f, hash: sha256.New(), limit: 1 << 62}
	if o.Prompts > 0 {
		sp.limit = max(o.Prompts, 64) * int64(o.budget()) * bytesPerToken * 3 / 2
	}
	return sp, nil
}

func (sp *spool) fill(ctx context.Context, files []string, column string, strip func([]byte) []byte) error {
	if column == "" {
		column = "text"
	}
	for _, path := range files {
		if sp.size >= sp.limit {
			return nil
		}
		if err := sp.shard(ctx, path, column, strip); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (sp *spool) shard(ctx context.Context, path, column string, strip func([]byte) []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	pf, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("not a complete Parquet file: %w", err)
	}
	leaf, err := textColumn(pf, column)
	if err != nil {
		return err
	}
	for g, group := range pf.RowGroups() {
		if sp.size >= sp.limit {
			return nil
		}
		sp.path, sp.group = path, g
		if err := sp.pages(ctx, group.ColumnChunks()[leaf].Pages(), strip); err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
	}
	return nil
}

// textColumn finds the column's index among the leaves.
func textColumn(f *parquet.File, name string) (int, error) {
	leaf, ok := f.Schema().Lookup(name)
	if !ok {
		return 0, fmt.Errorf("no column %q; it has %v", name, f.Schema().Columns())
	}
	if k := leaf.Node.Type().Kind(); k != parquet.ByteArray {
		return 0, fmt.Errorf("column %q holds %v, not text", name, leaf.Node.Type())
	}
	return leaf.ColumnIndex, nil
}

func (sp *spool) pages(ctx context.Context, pages parquet.Pages, strip func([]byte) []byte) error {
	defer pages.Close() //nolint:errcheck // only read
	values := make([]parquet.Value, 64)
	for row := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		if row, err = sp.page(page, values, row, strip); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		parquet.Release(page)
	}
}

func (sp *spool) page(page parquet.Page, values []parquet.Value, row int64, strip func([]byte) []byte) (int64, error) {
	r := page.Values()
	for {
		n, err := r.ReadValues(values)
		for _, v := range values[:n] {
			row++
			if v.IsNull() {
				continue
			}
			if text := v.ByteArray(); !utf8.Valid(text) {
				sp.bad.found(1, fmt.Sprintf("%s row group %d row %d", sp.path, sp.group, row-1))
			}
			if err := sp.add(strip(v.ByteArray())); err != nil {
				return row, err
			}
		}
		if errors.Is(err, io.EOF) {
			return row, nil
		}
		if err != nil {
			return row, err
		}
	}
}

func (sp *spool) add(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := io.MultiWriter(sp.f, sp.hash).Write(text); err != nil {
		return err
	}
	sp.bodies = append(sp.bodies, body{off: sp.size, size: int64(len(text))})
	sp.size += int64(len(text))
	return nil
}
