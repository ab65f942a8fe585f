#!/bin/sh
# Compares pkg/bench/tokenizer with Hugging Face's own library, token for token.
#   run.sh [megabytes]     text per tokenizer; 4 by default, 32 for the whole comparison
# Needs Node.js; the packages go to .oracle below the repository's root, which git ignores.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${MIFBENCH_ORACLE:-$root/.oracle}
if [ ! -d "$dir/node_modules/tokenizers" ]; then
  mkdir -p "$dir"
  cp "$root/test/tokenizers/package.json" "$dir/"
  npm --prefix "$dir" install --no-audit --no-fund --ignore-scripts
fi
cd "$root"
MIFBENCH_ORACLE=$dir MIFBENCH_ORACLE_MB=${1:-4} \
  go test -count=1 -timeout 60m -v -run 'TestOracle' ./pkg/bench/tokenizer/ ./pkg/bench/dataset/
