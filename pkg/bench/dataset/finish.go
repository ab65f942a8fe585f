package dataset

// encoder is a counter that can give token ids.
type encoder interface {
	// Encode returns the ids of a text without special tokens.
	Encode(text string) []int32
	// BOS is the token that begins a prompt, if the model has one.
	BOS() (int32, bool)
}

// counterOf makes the counter that the options ask for.
func counterOf(o Options) (Counter, error) {
	switch {
	case o.Counter != nil:
		return o.Counter, nil
	case o.ServerURL != "":
		return NewServerCounter(o.ServerURL, o.Model, o.HTTP), nil
	}
	return Approximate{}, nil
}

// finish adds what all kinds have in common.
func (o *opening) finish(s Source) (Source, error) { return s, nil }
