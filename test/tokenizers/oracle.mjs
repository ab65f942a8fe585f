// node oracle.mjs <dir with node_modules> <tokenizer.json> <docs.jsonl> <ids.bin>
// Encodes one JSON string a line with Hugging Face's own library. The output holds, for
// each document, the number of ids and the ids, as little-endian 32-bit integers; the last
// line on the standard output is the time spent encoding, in seconds.
import { createRequire } from 'node:module'
import { createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [dir, tokenizer, docs, out] = process.argv.slice(2)
const { Tokenizer } = createRequire(dir + '/')('tokenizers')
const t = Tokenizer.fromFile(tokenizer)
const fd = openSync(out, 'w')
let seconds = 0
for await (const line of createInterface({ input: createReadStream(docs), crlfDelay: Infinity })) {
  const text = JSON.parse(line)
  const start = process.hrtime.bigint()
  const ids = (await t.encode(text, null, { addSpecialTokens: false })).getIds()
  seconds += Number(process.hrtime.bigint() - start) / 1e9
  writeSync(fd, Buffer.from(Int32Array.from([ids.length, ...ids]).buffer))
}
process.stdout.write(seconds.toFixed(3) + '\n')
