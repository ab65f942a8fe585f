// Package client makes one request to an OpenAI-style endpoint and times its answer
// token by token: completions and chat, streaming or not, over HTTP/1.1 or HTTP/2.
//
// A token event is stamped at arrival: by the kernel (SO_TIMESTAMPNS) on Linux over
// TCP and TLS, so that neither our own scheduling nor the garbage collector enters the
// figure; by the clock after the read elsewhere and over HTTP/2, where one connection
// carries many streams. Each result says which. Where one read returned several events
// the kernel may have kept the last one's time only; such events are marked coalesced.
//
// Reading a token allocates nothing. Do reports failures in the Result, by class, as
// record.Status with one line of explanation and the tokens that came before; it never
// returns an error. New returns errors for options that cannot work.
package client
