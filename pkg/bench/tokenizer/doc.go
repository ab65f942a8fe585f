// Package tokenizer counts and encodes text exactly as Hugging Face's tokenizers library
// does, from a model's tokenizer.json: byte-level BPE (DeepSeek, Llama 3, Qwen, gpt-oss)
// and BPE with byte fallback (Llama 2, Mistral, Gemma).
//
// It is not a general implementation: a file that asks for anything else (Unigram,
// WordPiece, a normalizer or pre-tokenizer not listed in the tables here) is refused by
// name when it is loaded and never approximated. Unicode classes are those of the Go
// release; text with characters assigned since Unicode 15 may split differently.
//
// Loading returns errors that name the file and the part of it. Encoding cannot fail;
// invalid UTF-8 is read as U+FFFD, which is what JSON would make of it on the way to a
// server. A Tokenizer is safe for concurrent use.
package tokenizer
