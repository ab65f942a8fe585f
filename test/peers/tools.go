//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tool is one row of the table of load generators.
type tool struct {
	name string
	// args is the command line for a load against url; results go to the working
	// directory, which is dir.
	args func(c config, l load, url, dir string) ([]string, error)
	// env is added to the environment.
	env func(l load, dir string) []string
	// read finds what the tool noted of each request.
	read func(dir string) ([]request, error)
}

// tools is the visible table.
var tools = []tool{ //nolint:gochecknoglobals // read-only table, the place where a tool is added
	{"mifbench", oursArgs, noEnv, readOurs},
	{"vllm", vllmArgs, offline, readVLLM},
	{"guidellm", guidellmArgs, guidellmEnv, readGuidellm},
	{"aiperf", aiperfArgs, aiperfEnv, readAiperf},
	{"inference-perf", infperfArgs, offline, readInfperf},
}

func toolNames() []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

func noEnv(load, string) []string { return nil }

// offline keeps the tokenizers library from asking a hub about a local directory.
func offline(load, string) []string { return []string{"HF_HUB_OFFLINE=1"} }

// prompts writes one different prompt a request, each in every form that a tool wants.
func prompts(l load, dir string) (string, error) {
	var b strings.Builder
	for i := range l.Requests {
		text := fmt.Sprintf("prompt %d tells of numbers and of other things", i)
		fmt.Fprintf(&b, `{"prompt":%q,"output_tokens":%d,"output_tokens_count":%d}`+"\n", text, l.Tokens, l.Tokens)
	}
	path := filepath.Join(dir, "prompts.jsonl")
	return path, os.WriteFile(path, []byte(b.String()), 0o600)
}

// vllmArgs: even gaps (burstiness inf), no cap that binds.
func vllmArgs(c config, l load, url, dir string) ([]string, error) {
	path, err := prompts(l, dir)
	return []string{
		filepath.Join(c.vllm, "bin", "vllm"), "bench", "serve", "--backend", "vllm", "--base-url", url, "--model", "simulated",
		"--tokenizer", c.model, "--dataset-name", "custom", "--dataset-path", path, "--skip-chat-template", "--custom-output-len", "-1",
		"--num-prompts", fmt.Sprint(l.Requests), "--request-rate", fmt.Sprint(l.Rate), "--burstiness", "inf", "--max-concurrency", fmt.Sprint(2 * l.Streams),
		"--ignore-eos", "--disable-shuffle", "--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "out.json",
	}, err
}

func guidellmArgs(c config, l load, url, dir string) ([]string, error) {
	path, err := prompts(l, dir)
	return []string{
		filepath.Join(c.dir, "guidellm", "bin", "guidellm"), "run",
		"--backend", "kind=openai_http,target=" + url + ",model=simulated,request_format=/v1/completions",
		"--profile", fmt.Sprintf("kind=constant,rate=%v,max_concurrency=%d", l.Rate, 2*l.Streams),
		"--constraint", fmt.Sprintf("kind=max_requests,count=%d", l.Requests), "--tokenizer", "kind=huggingface_auto,model=" + c.model,
		"--data", "kind=json_file,path=" + path, "--output", "kind=json,path=" + filepath.Join(dir, "out.json"), "--disable-console",
	}, err
}

// guidellmEnv lifts its limit of 512 streams.
func guidellmEnv(l load, dir string) []string {
	return append(offline(l, dir), fmt.Sprintf("GUIDELLM__MAX_CONCURRENCY=%d", 2*l.Streams))
}

// aiperfEnv names a hub cache that holds the model directory as mifbench/tiny: offline,
// aiperf takes tokenizers from nowhere else, and online it asks the hub for minutes.
func aiperfEnv(l load, dir string) []string {
	return append(offline(l, dir), "HF_HOME="+filepath.Join(dir, "hub"), "HF_HUB_CACHE="+filepath.Join(dir, "hub", "hub"))
}

func hubCache(model, dir string) error {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	repo := filepath.Join(dir, "hub", "hub", "models--mifbench--tiny")
	return errors.Join(os.MkdirAll(filepath.Join(repo, "refs"), 0o700), os.MkdirAll(filepath.Join(repo, "snapshots"), 0o700),
		os.WriteFile(filepath.Join(repo, "refs", "main"), []byte(commit), 0o600), os.Symlink(model, filepath.Join(repo, "snapshots", commit)))
}

func aiperfArgs(c config, l load, url, dir string) ([]string, error) {
	var b strings.Builder
	for i := range l.Requests {
		fmt.Fprintf(&b, `{"text":"prompt %d tells of numbers and of other things","output_length":%d}`+"\n", i, l.Tokens)
	}
	path := filepath.Join(dir, "prompts.jsonl")
	return []string{
		filepath.Join(c.dir, "aiperf", "bin", "aiperf"), "profile", "--model", "simulated", "--url", url, "--endpoint-type", "completions", "--streaming",
		"--tokenizer", "mifbench/tiny", "--custom-dataset-type", "single_turn", "--input-file", path, "--request-rate", fmt.Sprint(l.Rate), "--arrival-pattern", "constant",
		"--concurrency", fmt.Sprint(2 * l.Streams), "--request-count", fmt.Sprint(l.Requests), "--export-level", "raw", "--output-artifact-dir", filepath.Join(dir, "out"),
		"--ui", "none", "--use-server-token-count", "--extra-inputs", "ignore_eos:true", "--use-legacy-max-tokens", "--no-auto-plot", "--no-gpu-telemetry", "--no-server-metrics",
	}, errors.Join(hubCache(c.model, dir), os.WriteFile(path, []byte(b.String()), 0o600))
}

// infperfArgs: one worker a core, as is its default; limits that do not bind.
func infperfArgs(c config, l load, url, dir string) ([]string, error) {
	conf := fmt.Sprintf(`api: {type: completion, streaming: true}
server: {type: vllm, model_name: simulated, base_url: %q, ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %q}
data:
  type: random
  input_distribution: {min: 10, max: 10, mean: 10, std_dev: 0, total_count: %d}
  output_distribution: {min: %d, max: %d, mean: %d, std_dev: 0, total_count: %d}
load:
  type: constant
  interval: 0
  worker_max_concurrency: %d
  worker_max_tcp_connections: %d
  stages: [{rate: %v, duration: %d}]
report: {request_lifecycle: {summary: true, per_stage: false, per_request: true, per_request_fields: {request: false, response: false}, use_server_output_tokens: true}}
storage: {local_storage: {path: out}}
`, url, c.model, l.Requests, l.Tokens, l.Tokens, l.Tokens, l.Requests, 2*l.Streams, 2*l.Streams, l.Rate, int(float64(l.Requests)/l.Rate))
	path := filepath.Join(dir, "config.yml")
	return []string{filepath.Join(c.dir, "inference-perf", "bin", "inference-perf"), "--config_file", path}, os.WriteFile(path, []byte(conf), 0o600)
}
