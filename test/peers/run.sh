#!/bin/sh
# Installs the peers once, builds this project and runs the comparison:
#   run.sh [flags of peers: --loads 100x20ms,… --tools mifbench,vllm,… --hold 6s]
# Everything goes to .bench below the repository's root, which git ignores.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
base=${MIFBENCH_VLLM_DIR:-$root/.bench/vllm}
dir=${MIFBENCH_PEERS_DIR:-$root/.bench/peers}
mkdir -p "$base" "$dir/out"
"$root/test/vllm/install.sh" "$base"
"$root/test/vllm/model.sh" "$base/model"
"$root/test/peers/install.sh" "$dir" "$base/venv"
cd "$root"
go build -o "$dir/peers" ./test/peers
"$dir/peers" --mifbench "$root/bin/mifbench" --dir "$dir" --vllm "$base/venv" --model "$base/model" "$@"
