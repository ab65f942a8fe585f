package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxBook is the largest .txt file that is searched for Project Gutenberg's own header
// and licence, bytes. Larger files are taken whole.
const maxBook = 64 << 20

// openGutenberg is the kind "gutenberg": a directory of Parquet shards as on Hugging Face
// (data/en-00000-of-00052-….parquet, columns id and text) or of books as .txt.
func openGutenberg(ctx context.Context, o *opening) (Source, error) {
	files, err := filesBelow(o.Path, ".parquet", ".txt")
	if err != nil {
		return nil, err
	}
	if files, err = ofLanguage(files, o.Language); err != nil {
		return nil, err
	}
	shards := only(files, ".parquet")
	if len(shards) > 0 {
		return openShards(ctx, o, shards, stripLicence)
	}
	h := sha256.New()
	var bodies []body
	var bad faulty
	seen := map[[32]byte]bool{}
	for _, f := range files {
		if _, err := hashFile(ctx, h, f, &bad); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		b, sum, err := bookBody(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if b.size > 0 && !seen[sum] {
			seen[sum] = true
			bodies = append(bodies, b)
		}
	}
	return newStreamPieces(ctx, o, newStream(bodies, o.budget()*bytesPerToken, o.Seed), sumOf(h), bad.warning("files"))
}

// ofLanguage keeps files named <language>-… or lying in a directory of that name.
func ofLanguage(files []string, language string) ([]string, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("no .parquet and no .txt file in the directory")
	}
	if language == "" {
		return files, nil
	}
	var kept []string
	for _, f := range files {
		inDir := strings.Contains(filepath.ToSlash(filepath.Dir(f))+"/", "/"+language+"/")
		if inDir || strings.HasPrefix(filepath.Base(f), language+"-") {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %d files is of language %q: neither %s-….parquet nor a directory %s; the first file is %s",
			len(files), language, language, language, filepath.Base(files[0]))
	}
	return kept, nil
}

func only(files []string, ending string) []string {
	var kept []string
	for _, f := range files {
		if strings.HasSuffix(strings.ToLower(f), ending) {
			kept = append(kept, f)
		}
	}
	return kept
}

// bookBody finds the part of a book that is the book, and the hash of its beginning, by
// which copies are known.
func bookBody(path string) (body, [32]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return body{}, [32]byte{}, err
	}
	if info.Size() > maxBook {
		return body{path: path, size: info.Size()}, sha256.Sum256([]byte(path)), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return body{}, [32]byte{}, err
	}
	from, to := licence(text)
	return body{path: path, off: int64(from), size: int64(to - from)}, sha256.Sum256(text[from:min(to, from+4096)]), nil
}

// licence finds the text between Project Gutenberg's marks, which all books share:
// "*** START OF THE PROJECT GUTENBERG EBOOK …" and "*** END OF …".
func licence(text []byte) (from, to int) {
	to = len(text)
	for _, mark := range []string{"*** START OF TH", "***START OF TH"} {
		if i := bytes.Index(text, []byte(mark)); i >= 0 {
			from = i + len(mark)
			if eol := bytes.IndexByte(text[from:], '\n'); eol >= 0 {
				from += eol + 1
			}
			break
		}
	}
	for _, mark := range []string{"*** END OF TH", "***END OF TH"} {
		if i := bytes.Index(text[from:], []byte(mark)); i >= 0 {
			to = from + i
			break
		}
	}
	return from, to
}

func stripLicence(text []byte) []byte {
	from, to := licence(text)
	return text[from:to]
}
