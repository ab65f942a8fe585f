package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench/record"
	"github.com/mifbench/mifbench/pkg/sim"
)

const runConfig = `
mifbench {
  stack = "test"
}
dataset "text" {
  path = "text.txt"
}
scenario "first" {
  endpoint      = "http://127.0.0.1:1"
  model         = "simulated"
  dataset       = dataset.text
  input_tokens  = 50
  output_tokens = 20
  ignore_eos    = true
  load {
    requests        = 60
    max_concurrency = 30
    request_rate    = 100
  }
  window {
    warmup   = "100ms"
    cooldown = "100ms"
  }
  REFERENCE
}
scenario "second" {
  endpoint      = "http://127.0.0.1:1"
  model         = "simulated"
  dataset       = dataset.text
  input_tokens  = 50
  output_tokens = 100
  ignore_eos    = true
  load {
    requests        = 60
    max_concurrency = 10
    request_rate    = 100
  }
}
`

// benchUser is a user with a configuration and a simulated server.
type benchUser struct {
	t    *testing.T
	dir  string
	url  string
	intr chan os.Signal
}

// startEngine serves until the test ends and returns its URL.
func startEngine(t *testing.T) string {
	t.Helper()
	c := sim.DefaultConfig()
	c.Listen, c.ITL = "127.0.0.1:0", 5*time.Millisecond
	server, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Addr().String()
}

func newBenchUser(t *testing.T, reference string) *benchUser {
	t.Helper()
	u := &benchUser{t: t, dir: t.TempDir(), url: startEngine(t), intr: make(chan os.Signal, 2)}
	u.write("main.mif.hcl", strings.Replace(runConfig, "REFERENCE", reference, 1))
	u.write("text.txt", strings.Repeat("it was the best of times, it was the worst of times; ", 4000))
	return u
}

func (u *benchUser) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func (u *benchUser) run(args ...string) (code int, stdout, stderr string) {
	u.t.Helper()
	var out, errs bytes.Buffer
	command := []string{"--chdir", u.dir, "run"}
	if u.url != "" {
		command = append(command, "--endpoint", u.url)
	}
	code = Run(u.t.Context(), Env{
		Args:   append(command, args...),
		Stdin:  strings.NewReader(""),
		Stdout: &out, Stderr: &errs, Interrupts: u.intr, Width: 80,
		Environ: []string{promptCacheVar + "=" + filepath.Join(u.dir, "cache")},
	})
	return code, out.String(), errs.String()
}

func (u *benchUser) folder() string {
	u.t.Helper()
	found, err := filepath.Glob(filepath.Join(u.dir, "runs", "*"))
	if err != nil || len(found) != 1 {
		u.t.Fatalf("run folders %v, %v", found, err)
	}
	return found[0]
}

// Equal servers take the requests in turn, whether the command line names them or the file.
func TestRunUsesEqualServersInTurn(t *testing.T) {
	u, other := newBenchUser(t, ""), startEngine(t)
	if code, out, errs := u.run("--endpoint", other, "first"); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	u.halves()
	if err := os.RemoveAll(filepath.Join(u.dir, "runs")); err != nil {
		t.Fatal(err)
	}
	u.write("main.mif.hcl", strings.NewReplacer(`endpoint      = "http://127.0.0.1:1"`, fmt.Sprintf("endpoints = [%q, %q]", u.url, other), "REFERENCE", "").Replace(runConfig))
	u.url = ""
	if code, out, errs := u.run("first"); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	u.halves()
}

// halves fails unless each of two servers answered half of the requests.
func (u *benchUser) halves() {
	u.t.Helper()
	count := map[int32]int{}
	for r, err := range record.All(filepath.Join(u.folder(), "first", recordsName)) {
		if err != nil {
			u.t.Fatal(err)
		}
		if r.Status == record.OK {
			count[r.Target]++
		}
	}
	if count[0] != 30 || count[1] != 30 {
		u.t.Errorf("requests by server: %v", count)
	}
}

func TestRunKeepsEverything(t *testing.T) {
	u := newBenchUser(t, "")
	code, out, errs := u.run("first")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"60 sent, 0 failed", "| 50 | 20 | text | (30, 100) |"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "approximate") {
		t.Errorf("lengths are approximate although the server counts:\n%s", out)
	}
	for _, name := range []string{"run.json", "report.html", "report.md", "first/records.mifr", "first/measured.json", "first/vllm.txt", "first/vllm-json.json"} {
		info, err := os.Stat(filepath.Join(u.folder(), name))
		if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// The second run cuts nothing; a salted one does not take the cache's prompts, and says what
// its salt was made from.
func TestRunKeepsPrompts(t *testing.T) {
	u := newBenchUser(t, "")
	for i, args := range [][]string{{"first"}, {"first", "--out", "runs2"}, {"first", "--out", "runs3", "--salt"}} {
		code, _, errs := u.run(args...)
		if code != 0 || strings.Contains(errs, "from the prompt cache") != (i == 1) {
			t.Errorf("run %d: exit code %d\n%s", i, code, errs)
		}
	}
	found, _ := filepath.Glob(filepath.Join(u.dir, "runs3", "*", "first", "measured.json"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	text, err := os.ReadFile(found[0])
	if err != nil || !strings.Contains(string(text), `/first/1"`) {
		t.Errorf("no salt in the result: %v\n%.2000s", err, text)
	}
}

func TestRunMissesItsReference(t *testing.T) {
	u := newBenchUser(t, `reference {
    output_tokens_per_second = 1000000
  }`)
	code, out, _ := u.run("first")
	if code != exitMissed || !strings.Contains(out, "MISSED") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestInterruptedRunIsKeptAndResumed(t *testing.T) {
	u := newBenchUser(t, "")
	go func() {
		for {
			found, _ := filepath.Glob(filepath.Join(u.dir, "runs", "*", "second", "records.mifr"))
			if len(found) == 1 {
				u.intr <- os.Interrupt
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	code, out, errs := u.run()
	if code != exitInterrupted || !strings.Contains(errs, "--resume") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	folder, err := runner.Open(u.folder())
	if err != nil {
		t.Fatal(err)
	}
	if left := folder.Unfinished(); len(left) != 1 || left[0] != "second" {
		t.Errorf("unfinished: %v", left)
	}
	code, out, errs = u.run("--resume", u.folder())
	if code != 0 || strings.Contains(errs, "first:") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(u.folder(), "second.2", "records.mifr")); err != nil {
		t.Error(err)
	}
}

func TestRunWithoutAServerNamesIt(t *testing.T) {
	u := newBenchUser(t, "")
	u.url = "http://127.0.0.1:1"
	code, _, errs := u.run("first")
	if code != exitFailed || !strings.Contains(errs, "127.0.0.1:1") || strings.Count(errs, "error:") != 1 {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}
