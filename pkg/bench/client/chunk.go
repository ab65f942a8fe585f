package client

// chunk is what one event's JSON object says. Slices point into the event.
type chunk struct {
	// text is the raw JSON string of the first non-empty content, reasoning or text.
	text []byte
	// answer: content, text or a tool delta; reasoning: reasoning_content or reasoning.
	answer, reasoning bool
	// finish is finish_reason of the last choice that has one.
	finish []byte
	// fail is set by an error object; failText is its message.
	fail     bool
	failText []byte
	// usage is set when the object carries token counts; a count is -1 when absent.
	usage                      bool
	prompt, completion, cached int32
}

// token tells whether the chunk is a token event.
func (c *chunk) token() bool { return c.answer || c.reasoning }

// parse reads one chunk of a completions or chat stream (or a whole answer, which has
// the same shape); false when b is not a JSON object.
func (c *chunk) parse(b []byte) bool {
	*c = chunk{prompt: -1, completion: -1, cached: -1}
	w := walker{b: b}
	w.open('{')
	for first := true; ; first = false {
		k, ok := w.key(first)
		if !ok {
			break
		}
		switch string(k) {
		case "choices":
			c.choices(&w)
		case "usage":
			c.usageOf(&w)
		case "error":
			c.errorOf(&w)
		case "object":
			c.objectOf(&w)
		case "message": // beside "object":"error" (older vLLM)
			c.failText = or(c.failText, stringOr(&w))
		default:
			w.skip()
		}
	}
	return !w.bad && w.peek() == 0
}

func (c *chunk) choices(w *walker) {
	if w.peek() != '[' {
		w.skip()
		return
	}
	w.open('[')
	for first := true; w.more(']', first); first = false {
		if w.peek() != '{' {
			w.skip()
			continue
		}
		c.choice(w)
	}
}

func (c *chunk) choice(w *walker) {
	w.open('{')
	for first := true; ; first = false {
		k, ok := w.key(first)
		if !ok {
			return
		}
		switch string(k) {
		case "text":
			c.content(stringOr(w))
		case "delta", "message":
			c.delta(w)
		case "finish_reason":
			if f := stringOr(w); len(f) > 0 {
				c.finish = f
			}
		default:
			w.skip()
		}
	}
}

// delta reads a chat delta, or the message of an answer that is not streamed.
func (c *chunk) delta(w *walker) {
	if w.peek() != '{' {
		w.skip()
		return
	}
	w.open('{')
	for first := true; ; first = false {
		k, ok := w.key(first)
		if !ok {
			return
		}
		switch string(k) {
		case "content", "refusal":
			c.content(stringOr(w))
		case "reasoning_content", "reasoning":
			if t := stringOr(w); len(t) > 0 {
				c.reasoning, c.text = true, or(c.text, t)
			}
		case "tool_calls", "function_call":
			c.answer = filled(w) || c.answer
		default:
			w.skip()
		}
	}
}

func (c *chunk) content(text []byte) {
	if len(text) > 0 {
		c.answer, c.text = true, or(c.text, text)
	}
}

func (c *chunk) usageOf(w *walker) {
	if w.peek() != '{' {
		w.skip()
		return
	}
	w.open('{')
	for first := true; ; first = false {
		k, ok := w.key(first)
		if !ok {
			return
		}
		switch string(k) {
		case "prompt_tokens":
			c.count(w, &c.prompt)
		case "completion_tokens":
			c.count(w, &c.completion)
		case "prompt_tokens_details":
			c.detailsOf(w)
		default:
			w.skip()
		}
	}
}

func (c *chunk) detailsOf(w *walker) {
	if w.peek() != '{' {
		w.skip()
		return
	}
	w.open('{')
	for first := true; ; first = false {
		k, ok := w.key(first)
		if !ok {
			return
		}
		if string(k) != "cached_tokens" {
			w.skip()
			continue
		}
		c.count(w, &c.cached)
	}
}

func (c *chunk) count(w *walker, to *int32) {
	if v, ok := w.num(); ok {
		*to, c.usage = v, true
	}
}

// errorOf reads {"error": {"message": …}} and {"error": "…"}; null is no error.
func (c *chunk) errorOf(w *walker) {
	switch w.peek() {
	case '"':
		c.fail, c.failText = true, or(w.str(), c.failText)
	case '{':
		c.fail = true
		w.open('{')
		for first := true; ; first = false {
			k, ok := w.key(first)
			if !ok {
				return
			}
			if string(k) != "message" {
				w.skip()
				continue
			}
			c.failText = or(stringOr(w), c.failText)
		}
	default:
		w.skip()
	}
}

func (c *chunk) objectOf(w *walker) {
	if string(stringOr(w)) == "error" {
		c.fail = true
	}
}

// stringOr consumes one value and returns its raw text when it is a string.
func stringOr(w *walker) []byte {
	if w.peek() == '"' {
		return w.str()
	}
	w.skip()
	return nil
}

// filled consumes one value and tells whether it is an array or object with members.
func filled(w *walker) bool {
	c := w.peek()
	start := w.i
	w.skip()
	if w.bad || c != '[' && c != '{' {
		return false
	}
	in := walker{b: w.b[start+1 : w.i]}
	return in.peek() != ']' && in.peek() != '}'
}

func or(a, b []byte) []byte {
	if len(a) > 0 {
		return a
	}
	return b
}
