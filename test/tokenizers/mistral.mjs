// node mistral.mjs <tekken.json> <tokenizer.json>
// Writes Mistral's own vocabulary (Nemo and later; in the PyPI package mistral_common) in Hugging
// Face's form, by the rule of transformers' converter for vocabularies that have ranks and no
// merges: every split of a token into two tokens is a merge, in the order of the tokens' ranks.
import { readFileSync, writeFileSync } from 'node:fs'

const [from, to] = process.argv.slice(2)
const { config, vocab } = JSON.parse(readFileSync(from))
const special = config.default_num_special_tokens
const bytes = vocab.slice(0, config.default_vocab_size - special).map((t) => Buffer.from(t.token_bytes, 'base64').toString('latin1'))
const rank = new Map(bytes.map((b, i) => [b, i]))

// GPT-2's letters for bytes.
const letters = []
for (let b = 0, next = 256; b < 256; b++) {
  const printable = (b > 32 && b < 127) || (b > 160 && b !== 173)
  letters.push(String.fromCharCode(printable ? b : next++))
}
const spell = (token) => Array.from(token, (c) => letters[c.charCodeAt(0)]).join('')

const merges = []
for (const token of bytes) {
  const splits = []
  for (let i = 1; i < token.length; i++) {
    const [l, r] = [token.slice(0, i), token.slice(i)]
    if (rank.has(l) && rank.has(r)) splits.push([l, r])
  }
  splits.sort((a, b) => rank.get(a[0]) - rank.get(b[0]) || rank.get(a[1]) - rank.get(b[1]))
  merges.push(...splits.map((s) => s.map(spell)))
}
const named = ['<unk>', '<s>', '</s>', '[INST]', '[/INST]', '[AVAILABLE_TOOLS]', '[/AVAILABLE_TOOLS]', '[TOOL_RESULTS]', '[/TOOL_RESULTS]', '[TOOL_CALLS]']
const names = Array.from({ length: special }, (_, i) => named[i] ?? `<SPECIAL_${i}>`)
const added = names.map((content, id) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }))
const split = { type: 'Split', pattern: { Regex: config.pattern }, behavior: 'Isolated', invert: false }
const level = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }
writeFileSync(to, JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: added, normalizer: null,
  pre_tokenizer: { type: 'Sequence', pretokenizers: [split, level] }, post_processor: null, decoder: level,
  model: {
    type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
    fuse_unk: false, byte_fallback: false, ignore_merges: true,
    vocab: Object.fromEntries([...names.map((n, i) => [n, i]), ...bytes.map((b, i) => [spell(b), special + i])]), merges,
  },
}))
