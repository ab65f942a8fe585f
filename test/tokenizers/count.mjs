// node count.mjs <dir with node_modules> <tokenizer.json> < docs.jsonl > counts
// Counts one JSON string a line with Hugging Face's own library and prints a count a line.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [dir, tokenizer] = process.argv.slice(2)
const { Tokenizer } = createRequire(dir + '/')('tokenizers')
const t = Tokenizer.fromFile(tokenizer)
let batch = []
const flush = async () => {
  const all = await t.encodeBatch(batch, { addSpecialTokens: false })
  process.stdout.write(all.map((e) => e.getLength() + '\n').join(''))
  batch = []
}
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  batch.push(JSON.parse(line))
  if (batch.length === 64) await flush()
}
if (batch.length > 0) await flush()
