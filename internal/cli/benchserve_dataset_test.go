package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/sim"
)

// Each data set is sent, with the lengths that its flags ask for as the server counts them.
func TestServedDatasets(t *testing.T) {
	u := newServeUser(t)
	prompts := books(t)
	rows := ""
	for i := range 6 {
		rows += fmt.Sprintf(`{"prompt": "question %d of the file", "output_tokens": %d}`+"\n", i, i+1)
	}
	custom := u.write("custom.jsonl", rows)
	lines := ""
	for i := range 40 {
		lines += fmt.Sprintf("and %d little words stand here in line %d of them\n", i, i*i)
	}
	sonnet := u.write("sonnet.txt", lines)
	burst := u.write("burst.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"+
		"1,ChatGPT,9,9,18,x\n2,GPT-4,30,3,33,x\n3,GPT-4,31,0,31,x\n4,GPT-4,40,4,44,x\n")
	trace := u.write("trace.jsonl", `{"timestamp": 0, "input_length": 40, "output_length": 3, "hash_ids": [1, 2, 3]}`+"\n"+
		`{"timestamp": 0.2, "input_length": 50, "output_length": 4, "hash_ids": [1, 2, 4]}`+"\n")
	for _, c := range []struct {
		name, flags string
		in, out     []int // lengths of each request, sorted
	}{
		{"random by default", "", repeated(4, 20), repeated(4, 5)},
		{"random with a prefix", "--random-prefix-len 10 --random-input-len 25", repeated(4, 35), repeated(4, 5)},
		{"random, one length varying", `--random-range-ratio {"input":0.0,"output":0.0}`, repeated(4, 20), repeated(4, 5)},
		{"sharegpt cut", "--dataset-name sharegpt --dataset-path " + prompts["sharegpt"] + " --sharegpt-input-len 30 --sharegpt-output-len 6", repeated(4, 30), repeated(4, 6)},
		{"sharegpt as it is", "--dataset-name sharegpt --dataset-path " + prompts["sharegpt"], nil, nil},
		{"sharegpt as it is, fixed answers", "--dataset-name sharegpt --dataset-path " + prompts["sharegpt"] + " --sharegpt-output-len 6", nil, repeated(4, 6)},
		{"gutenberg", "--dataset-name gutenberg --dataset-path " + prompts["gutenberg"] + " --gutenberg-input-len 30 --output-len 6", repeated(4, 30), repeated(4, 6)},
		{"sonnet", "--dataset-name sonnet --dataset-path " + sonnet + " --sonnet-input-len 60 --sonnet-prefix-len 20 --sonnet-output-len 6", repeated(4, 60), repeated(4, 6)},
		{"custom", "--dataset-name custom --dataset-path " + custom, repeated(4, 5), repeated(4, 256)},
		{"custom, own answers", "--dataset-name custom --dataset-path " + custom + " --custom-output-len -1 --num-prompts 6", repeated(6, 5), []int{1, 2, 3, 4, 5, 6}},
		{"custom, all rows", "--dataset-name custom --dataset-path " + custom + " --output-len 2 --num-prompts 0", repeated(6, 5), repeated(6, 2)},
		{"custom, repeated", "--dataset-name custom --dataset-path " + custom + " --output-len 2 --num-prompts 8", repeated(8, 5), repeated(8, 2)},
		{"custom, not repeated", "--dataset-name custom --dataset-path " + custom + " --output-len 2 --num-prompts 8 --no-oversample", repeated(6, 5), repeated(6, 2)},
		{"prefix_repetition", "--dataset-name prefix_repetition --prefix-repetition-prefix-len 20 --prefix-repetition-suffix-len 10 --prefix-repetition-num-prefixes 2 --prefix-repetition-output-len 3", repeated(4, 30), repeated(4, 3)},
		{"burstgpt", "--dataset-name burstgpt --dataset-path " + burst, []int{30, 30, 40, 40}, []int{3, 3, 4, 4}},
		{"timed_trace", "--dataset-name timed_trace --dataset-path " + trace, []int{40, 50}, []int{3, 4}},
		{"timed_trace, not at its times", "--dataset-name timed_trace --dataset-path " + trace + " --no-self-timed --request-rate 100", []int{40, 50}, []int{3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.t = t
			file := filepath.Join(t.TempDir(), "r.json")
			o := u.ok(append(strings.Fields(c.flags), "--save-result", "--save-detailed", "--result-filename", file, "--max-concurrency", "8")...)
			var in, out []int
			for _, a := range o.load {
				text, _ := a.body["prompt"].(string)
				in, out = append(in, sim.CountTokens(text)), append(out, int(a.body["max_tokens"].(float64)))
			}
			slices.Sort(in)
			slices.Sort(out)
			if c.in != nil && !slices.Equal(in, c.in) || c.out != nil && !slices.Equal(out, c.out) {
				t.Errorf("lengths %v and %v, want %v and %v:\n%s", in, out, c.in, c.out, o.talk)
			}
			if c.in == nil && (len(in) != 4 || in[0] < 4 || in[3] > 1024) {
				t.Errorf("lengths %v", in)
			}
			dir := u.dir
			u.dir = "/"
			r := u.object(file)
			u.dir = dir
			total := 0
			for _, n := range in {
				total += n
			}
			if r["completed"] != float64(len(in)) || r["total_input_tokens"] != float64(total) {
				t.Errorf("%v requests completed with %v tokens, %d were sent with %d", r["completed"], r["total_input_tokens"], len(in), total)
			}
		})
	}
}

func repeated(n, x int) []int { return slices.Repeat([]int{x}, n) }

// Order: the seed's unless --disable-shuffle; what is shared is shared.
func TestServedDatasetsInOrder(t *testing.T) {
	u := newServeUser(t)
	var rows, talks []string
	var all []any
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("question %d of the file", i))
		talks = append(talks, fmt.Sprintf("what is number %d of these", i))
		turn := func(text string) map[string]string { return map[string]string{"from": "x", "value": text} }
		all = append(all, map[string]any{"conversations": []any{turn(talks[i]), turn("a number of no importance")}})
	}
	text := ""
	for _, r := range rows {
		text += fmt.Sprintf(`{"prompt": %q}`+"\n", r)
	}
	custom := u.write("c.jsonl", text)
	js, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	share := u.write("s.json", string(js))
	for name, c := range map[string]struct {
		flags []string
		file  []string
	}{
		"custom":   {[]string{"--dataset-path", custom, "--custom-output-len", "1"}, rows},
		"sharegpt": {[]string{"--dataset-path", share}, talks},
	} {
		flags := append(c.flags, "--dataset-name", name, "--num-prompts", "20", "--max-concurrency", "1")
		inFile := u.ok(append(flags, "--disable-shuffle")...).prompts()
		first, again, other := u.ok(flags...).prompts(), u.ok(flags...).prompts(), u.ok(append(flags, "--seed", "5")...).prompts()
		if !slices.Equal(inFile, c.file) || slices.Equal(first, c.file) || !slices.Equal(first, again) || slices.Equal(first, other) {
			t.Errorf("%s: in the file's order %q, by seed 0 %q and %q, by seed 5 %q", name, inFile, first, again, other)
		}
		slices.Sort(first)
		if !slices.Equal(first, slices.Sorted(slices.Values(c.file))) {
			t.Errorf("%s: not each prompt once: %q", name, first)
		}
	}
	p := u.ok("--random-prefix-len", "30", "--max-concurrency", "1").prompts()
	if p[0] == p[1] || p[0][:60] != p[1][:60] {
		t.Errorf("random prompts with a prefix: %q", p)
	}
}

// The sends of a trace follow its times.
func TestServedTraceIsTimed(t *testing.T) {
	u := newServeUser(t)
	trace := u.write("t.jsonl", `{"at": 0, "input_length": 20, "output_length": 2}`+"\n"+`{"at": 4, "input_length": 20, "output_length": 2}`+"\n")
	o := u.ok("--dataset-name", "timed_trace", "--dataset-path", trace, "--timed-trace-label-timestamp", "at", "--timed-trace-sec-multiplier", "0.1",
		"--save-result", "--save-detailed", "--result-filename", filepath.Join(u.dir, "t.json"))
	at, _ := u.object("t.json")["start_times"].([]any)
	if len(at) != 2 {
		t.Fatalf("sends %v:\n%s", at, o.talk)
	}
	if gap := at[1].(float64) - at[0].(float64); gap < 0.25 || gap > 3 {
		t.Errorf("sends %v s apart, want 0.4", gap)
	}
}

func TestServedDatasetsRefuse(t *testing.T) {
	u := newServeUser(t)
	custom := u.write("c.jsonl", `{"prompt": "a b c"}`+"\n")
	for _, c := range []struct{ flags, want string }{
		{"--dataset-path x", "has no place in --dataset-name random"},
		{"--dataset-name custom", "--dataset-path is needed"},
		{"--dataset-name custom --dataset-path " + custom + " --custom-output-len -1", "prompt 0 has no output_tokens"},
		{"--dataset-name custom --dataset-path " + custom + " --custom-output-len 0", "must be above 0, or -1"},
		{"--dataset-name sharegpt --dataset-path " + custom + " --sharegpt-input-len 0", "--sharegpt-input-len is needed and must be above 0"},
		{"--dataset-name sharegpt --dataset-path x --sharegpt-input-len 5", "--sharegpt-output-len is needed"},
		{"--dataset-name sharegpt --dataset-path x --sharegpt-input-len 5 --sharegpt-output-len 5 --disable-shuffle", "--disable-shuffle: prompts cut from sharegpt"},
		{"--dataset-name sharegpt --dataset-path /nowhere.json", "/nowhere.json"},
		{"--dataset-name gutenberg --dataset-path x", "--gutenberg-input-len is needed"},
		{"--dataset-name sonnet --dataset-path x --sonnet-input-len 100", "must be above --sonnet-prefix-len"},
		{"--dataset-name prefix_repetition --num-prompts 5", "a prefix would go unused"},
		{"--dataset-name timed_trace --dataset-path x --timed-trace-sec-multiplier 0", "--timed-trace-sec-multiplier 0 must be above 0"},
		{"--random-range-ratio 1", "not within [0, 1)"},
		{"--random-range-ratio {}", "neither a number nor"},
		{"--random-input-len 0", "--random-input-len and --random-output-len must be above 0"},
		{"--self-timed", "are for --dataset-name timed_trace"},
		{"--dataset-name spec_bench", "convert them to custom"},
		{"--dataset-name hf", "nothing is downloaded from a hub"},
		{"--dataset-name random-mm", "only text is sent"},
		{"--num-prompts 0", "at least one request is needed"},
	} {
		if o := u.serve(strings.Fields(c.flags)...); o.code != 1 || !strings.Contains(o.talk, c.want) || len(o.load) > 0 {
			t.Errorf("%s: exit code %d, %d requests, want %q:\n%s", c.flags, o.code, len(o.load), c.want, o.talk)
		}
	}
	if o := u.ok("--sonnet-input-len", "300"); !strings.Contains(o.talk, "--sonnet-input-len has no effect with --dataset-name random") {
		t.Errorf("a flag of another data set:\n%s", o.talk)
	}
}
