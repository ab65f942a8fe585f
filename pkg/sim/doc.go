// Package sim is a simulated inference engine: an OpenAI-compatible server with
// vLLM's wire format, /metrics and prefill/decode disaggregation, whose token
// times come from a model of a batching engine instead of GPUs. It is meant for
// rehearsals of a benchmark, for tests of clients, and (with Config.Stamp) for
// proofs of a client's timing accuracy.
//
// The model (engine, Preset) has no clock: Server plays it in real time, Predict
// in virtual time, with the same code. A rank's sequences advance in lock-step,
// one token per step, as in a real engine.
//
// What it is not: it has no tokenizer (Tokenize states its rule), no weights and
// no HTTP/2 or TLS; n > 1, batches of prompts, logprobs, tools and LoRA are not
// simulated (n > 1 and batches are refused, the rest is ignored); ranks of one
// instance do not wait for each other, though expert parallelism makes real ones;
// the prefix cache shares hits but not memory.
//
// Config.Validate and New return the mistakes of a configuration, all at once,
// each with the flag's name; New also wraps listen errors with the rank. Clients
// get errors in vLLM's shape.
package sim
