package benchtest

import (
	"fmt"
	"strings"
	"time"
)

// Head is the head of a streaming answer of chunks.
const Head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"

// Tail ends a chunked body.
const Tail = "0\r\n\r\n"

// Chunk wraps s as one HTTP chunk.
func Chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// Data is one server-sent event.
func Data(json string) string { return "data: " + json + "\n\n" }

// Token is a completions chunk as vLLM writes it.
func Token(text string) string {
	return fmt.Sprintf(`{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}`, text)
}

// Last is a completions chunk that carries a token and ends the text.
func Last(text string) string {
	return strings.Replace(Token(text), `"finish_reason":null`, `"finish_reason":"length"`, 1)
}

// Usage is vLLM's closing chunk.
func Usage(prompt, completion int) string {
	return fmt.Sprintf(`{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}`,
		prompt, prompt+completion, completion)
}

// Raw answers with body as it is, in one write, as a chunked stream.
func Raw(body string) []Step {
	return []Step{{Write: Head}, {Write: Chunk(body)}, {Write: Tail}}
}

// Stream answers with n tokens: the first after ttft, the others itl apart, then usage
// and [DONE]; each chunk is one write, as a real server does it.
func Stream(n int, ttft, itl time.Duration) []Step {
	steps := []Step{{Write: Head}}
	for i := range n {
		st := Step{Wait: itl, Write: Chunk(Data(Token(" x")))}
		if i == 0 {
			st.Wait = ttft
		}
		if i == n-1 {
			st.Write = Chunk(Data(Last(" x")))
		}
		steps = append(steps, st)
	}
	return append(steps, Step{Write: Chunk(Data(Usage(7, n)))}, Step{Write: Chunk(Data("[DONE]")) + Tail})
}

// Status answers with a status, a JSON body and Content-Length.
func Status(code int, body string) []Step {
	return []Step{{Write: fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", code, len(body), body)}}
}

// Then appends steps to a script.
func Then(script []Step, more ...Step) []Step {
	return append(script[:len(script):len(script)], more...)
}
