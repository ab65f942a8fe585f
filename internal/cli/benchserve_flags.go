package cli

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/mifbench/mifbench/pkg/bench/client"
)

// serveFlags are the flags of vllm bench serve, with upstream's names and defaults.
type serveFlags struct {
	backend, baseURL, host, endpoint   string
	model, served, tokenizer, label    string
	port                               int
	headers                            []string
	seed                               int64
	quiet, noStream                    bool
	idPrefix                           string
	numPrompts                         int64
	rate, burstiness                   float64
	concurrency                        int
	rampUp                             string
	rampStart, rampEnd                 int
	warmups                            int
	readyTimeout                       float64
	inputLen, outputLen                int
	ignoreEOS                          bool
	extraBody                          string
	logprobs                           int
	sampling                           map[string]*float64
	save, detailed, appendTo           bool
	metadata                           []string
	resultDir, resultFile              string
	percentileMetrics, percentiles     string
	goodput                            []string
	dataset, path                      string
	shareIn, shareOut, bookIn, bookOut int
	randomIn, randomOut, randomPrefix  int
	randomRange                        string
	sonnetIn, sonnetOut, sonnetPrefix  int
	customOut                          int
	prefixLen, suffixLen               int
	prefixes, prefixOut                int
	traceBlock                         int
	traceSeconds                       float64
	traceKeys                          [4]string // timestamp, input, output, blocks
	selfTimed                          bool
	noShuffle, noOversample            bool
	warmupTime, cooldownTime           float64
	perWorker                          int
	records                            string
	trustCode, skipTemplate            bool
	tokenizerMode                      string
	tls                                client.TLS
	http2, proxy                       bool
	timeouts                           client.Timeouts
	refused                            []*refusedValue
	given                              func(name string) bool
}

func newServeFlags() *serveFlags {
	return &serveFlags{sampling: map[string]*float64{}, given: func(string) bool { return false }}
}

func (f *serveFlags) bind(fs *pflag.FlagSet) {
	fs.SortFlags = false
	f.bindTarget(fs)
	f.bindLoad(fs)
	f.bindBody(fs)
	f.bindResults(fs)
	f.bindDataset(fs)
	f.bindWire(fs)
	for _, r := range refusedFlags() {
		v := &refusedValue{name: r.name, fallback: r.fallback, boolean: r.fallback == "false"}
		f.refused = append(f.refused, v)
		flag := fs.VarPF(v, r.name, "", "not part of this version: "+r.reason)
		if v.boolean {
			flag.NoOptDefVal = "true"
		}
	}
}

func (f *serveFlags) bindTarget(fs *pflag.FlagSet) {
	fs.StringVar(&f.backend, "backend", "openai", "kind of server: vllm, openai (completions) or openai-chat")
	fs.StringVar(&f.baseURL, "base-url", "", "base URL, instead of host and port")
	fs.StringVar(&f.host, "host", "127.0.0.1", "server's host")
	fs.IntVar(&f.port, "port", 8000, "server's port")
	fs.StringVar(&f.endpoint, "endpoint", "/v1/completions", "path of the API")
	fs.Var(&manyValue{&f.headers, "K=V"}, "header", "headers of every request; several values may follow")
	fs.StringVar(&f.model, "model", "", "name of the model; the first of /v1/models when absent")
	fs.StringVar(&f.served, "served-model-name", "", "name in the requests, when it is not the model's")
	fs.StringVar(&f.tokenizer, "tokenizer", "", "tokenizer's name in the result file; a tokenizer.json, or the directory of one, counts prompt lengths")
	fs.StringVar(&f.tokenizerMode, "tokenizer-mode", "auto", "accepted; there is one implementation")
	fs.BoolVar(&f.trustCode, "trust-remote-code", false, "accepted; no code of a model is ever run")
	fs.Int64Var(&f.seed, "seed", 0, "seed of schedule and prompts")
	fs.BoolVar(&f.tls.Insecure, "insecure", false, "accept any certificate")
	fs.StringVar(&f.label, "label", "", "first part of the result file's name; the backend when absent")
	fs.StringVar(&f.idPrefix, "request-id-prefix", "", "prefix of x-request-id (default bench-<8 hex digits>-)")
	fs.BoolVar(&f.quiet, "disable-tqdm", false, "show no progress")
	fs.BoolVar(&f.noStream, "no-stream", false, "ask for whole answers")
}

// bindWire has the flags of our own about the way to the server.
func (f *serveFlags) bindWire(fs *pflag.FlagSet) {
	only := " (mifbench only)"
	t := client.DefaultTimeouts()
	fs.StringVar(&f.tls.CAFile, "ca-file", "", "certificates to trust instead of the system's, PEM"+only)
	fs.StringVar(&f.tls.CertFile, "cert-file", "", "client certificate, PEM"+only)
	fs.StringVar(&f.tls.KeyFile, "key-file", "", "its key, PEM"+only)
	fs.StringVar(&f.tls.ServerName, "tls-server-name", "", "name in the server's certificate, when it is not the host's"+only)
	fs.BoolVar(&f.http2, "http2", false, "use HTTP/2 where TLS offers it; no kernel time stamps then"+only)
	fs.BoolVar(&f.proxy, "proxy-from-env", false, "obey HTTP_PROXY and friends, as upstream does; ignored otherwise"+only)
	fs.DurationVar(&f.timeouts.Dial, "dial-timeout", t.Dial, "limit of connecting"+only)
	fs.DurationVar(&f.timeouts.FirstByte, "first-token-timeout", t.FirstByte, "limit of waiting for the first token; 0 is none"+only)
	fs.DurationVar(&f.timeouts.Idle, "idle-timeout", t.Idle, "limit of silence between tokens; 0 is none"+only)
	fs.DurationVar(&f.timeouts.Total, "request-timeout", t.Total, "limit of a whole request; 0 is none"+only)
}

func (f *serveFlags) bindLoad(fs *pflag.FlagSet) {
	fs.Int64Var(&f.numPrompts, "num-prompts", 1000, "number of requests")
	fs.Float64Var(&f.rate, "request-rate", math.Inf(1), "requests per second; inf sends all at once")
	fs.Float64Var(&f.burstiness, "burstiness", 1, "shape of the gaps' gamma distribution: 1 Poisson, less burstier, inf even")
	fs.IntVar(&f.concurrency, "max-concurrency", 0, "greatest number of requests in flight; no limit when absent")
	fs.StringVar(&f.rampUp, "ramp-up-strategy", "", "linear or exponential, instead of a request rate")
	fs.IntVar(&f.rampStart, "ramp-up-start-rps", 0, "rate of the first request")
	fs.IntVar(&f.rampEnd, "ramp-up-end-rps", 0, "rate of the last request")
	fs.IntVar(&f.warmups, "num-warmups", 0, "requests with the first prompt before the run")
	fs.Float64Var(&f.readyTimeout, "ready-check-timeout-sec", 0, "how long to wait for a first answer, s; 0 does not check")
	fs.Float64Var(&f.warmupTime, "warmup-time", 0, "left out at the start, s (the published benchmark's)")
	fs.Float64Var(&f.cooldownTime, "cooldown-time", 0, "left out at the end, s (the published benchmark's)")
	fs.IntVar(&f.perWorker, "max-connections-per-worker", 0, "accepted; one process holds every connection (the published benchmark's)")
}

func (f *serveFlags) bindBody(fs *pflag.FlagSet) {
	fs.IntVar(&f.inputLen, "input-len", 0, "prompt length of the data set random, before its own flag")
	fs.IntVar(&f.outputLen, "output-len", 0, "answer length of every data set that has one, before its own flag")
	fs.BoolVar(&f.ignoreEOS, "ignore-eos", false, "generate the whole answer length whatever the model says")
	fs.StringVar(&f.extraBody, "extra-body", "", "JSON object merged into every body")
	fs.IntVar(&f.logprobs, "logprobs", 0, "log probabilities to ask for (completions)")
	for _, name := range samplingFlags() {
		v := new(float64)
		f.sampling[name] = v
		fs.Float64Var(v, name, 0, "sampling parameter; the server's when absent")
	}
	fs.BoolVar(&f.skipTemplate, "skip-chat-template", false, "accepted; prompts are never put into a chat template here")
}

func samplingFlags() []string {
	return []string{"top-p", "top-k", "min-p", "temperature", "frequency-penalty", "presence-penalty", "repetition-penalty"}
}

func (f *serveFlags) bindResults(fs *pflag.FlagSet) {
	fs.BoolVar(&f.save, "save-result", false, "write the result file")
	fs.BoolVar(&f.detailed, "save-detailed", false, "with the arrays of each request")
	fs.BoolVar(&f.appendTo, "append-result", false, "append to the result file")
	fs.Var(&manyValue{&f.metadata, "K=V"}, "metadata", "pairs to keep in the result file; several values may follow")
	fs.StringVar(&f.resultDir, "result-dir", "", "directory of the result file")
	fs.StringVar(&f.resultFile, "result-filename", "", "name of the result file")
	fs.StringVar(&f.percentileMetrics, "percentile-metrics", "", "metrics to show, of ttft, tpot, itl, e2el, client_queue_time, e2el_including_client_queue (default ttft,tpot,itl)")
	fs.StringVar(&f.percentiles, "metric-percentiles", "99", "percentiles of each metric")
	fs.Var(&manyValue{&f.goodput, "METRIC:MS"}, "goodput", "limits of a good request, of ttft, tpot and e2el; several values may follow")
	fs.StringVar(&f.records, "records", "", "directory to keep a run folder with the records in (mifbench only)")
}

// check reports every mistake of the command line at once.
func (f *serveFlags) check() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for i, r := range refusedFlags() {
		bad(f.refused[i].given, "--%s is not part of this version: %s", r.name, r.reason)
	}
	bad(f.numPrompts < 1 && f.dataset != "custom", "--num-prompts %d: at least one request is needed", f.numPrompts)
	bad(f.given("max-concurrency") && f.concurrency < 1, "--max-concurrency %d must be greater than 0", f.concurrency)
	bad(!(f.rate > 0), "--request-rate %v must be greater than 0", f.rate)
	bad(!(f.burstiness > 0), "--burstiness %v must be greater than 0", f.burstiness)
	bad(f.warmups < 0 || f.readyTimeout < 0 || f.warmupTime < 0 || f.cooldownTime < 0, "--num-warmups, --ready-check-timeout-sec, --warmup-time and --cooldown-time must not be negative")
	bad(min(f.timeouts.Dial, f.timeouts.FirstByte, f.timeouts.Idle, f.timeouts.Total) < 0, "--dial-timeout, --first-token-timeout, --idle-timeout and --request-timeout must not be negative")
	errs = append(errs, f.checkRamp(), f.checkBackend(), f.checkDataset())
	for _, try := range []func() error{
		func() error { _, err := f.body(); return err },
		func() error { _, err := f.limits(); return err },
		func() error { _, err := f.levels(); return err },
		func() error { _, err := pairs("header", "=", f.headers); return err },
		func() error { _, err := pairs("metadata", "=", f.metadata); return err },
	} {
		errs = append(errs, try())
	}
	return errors.Join(errs...)
}

// checkRamp follows upstream's validation.
func (f *serveFlags) checkRamp() error {
	switch {
	case f.rampUp == "" && (f.given("ramp-up-start-rps") || f.given("ramp-up-end-rps")):
		return errors.New("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy")
	case f.rampUp == "":
		return nil
	case f.rampUp != "linear" && f.rampUp != "exponential":
		return fmt.Errorf("--ramp-up-strategy %q is not one of linear, exponential", f.rampUp)
	case f.given("request-rate") && !math.IsInf(f.rate, 1):
		return errors.New("--ramp-up-strategy sets the rate: leave --request-rate out")
	case !f.given("ramp-up-start-rps") || !f.given("ramp-up-end-rps"):
		return errors.New("--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps")
	case f.rampStart < 1 || f.rampStart > f.rampEnd:
		return fmt.Errorf("the ramp from %d to %d must begin above 0 and not fall", f.rampStart, f.rampEnd)
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
