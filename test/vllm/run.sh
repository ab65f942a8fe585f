#!/bin/sh
# Starts a real vLLM on this machine's CPU with a tiny model of random weights, and runs
# the tests of this directory against it: what our client reads from it, and where our
# simulator differs from it.
#   run.sh [go test flags]     -capture also rewrites the recorded streams
# Everything goes to .bench/vllm below the repository's root, which git ignores: 4 GB,
# most of it PyTorch. Needs Python 3.12 or 3.13 and Node.js (for one tokenizer file).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/test/vllm
dir=${MIFBENCH_VLLM_DIR:-$root/.bench/vllm}
port=${MIFBENCH_VLLM_PORT:-18431}
mkdir -p "$dir"
"$here/install.sh" "$dir"
"$here/model.sh" "$dir/model"

# Loopback only; no look-ups of models, no usage reports.
HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 VLLM_CPU_KVCACHE_SPACE=1 OMP_NUM_THREADS=1 \
  "$dir/venv/bin/vllm" serve "$dir/model" --load-format dummy --dtype float32 --enforce-eager \
  --host 127.0.0.1 --port "$port" --served-model-name tiny --max-model-len 2048 --max-num-seqs 64 \
  --api-key sesame --reasoning-parser qwen3 >"$dir/server.log" 2>&1 &
pid=$!
# A server that is still starting may not hear the first signal.
stop() {
  for s in TERM TERM TERM TERM TERM KILL; do
    kill -$s $pid 2>/dev/null || return 0
    sleep 2
  done
}
trap stop EXIT
echo "waiting for vLLM (log: $dir/server.log)"
n=0
until curl -sf -o /dev/null "http://127.0.0.1:$port/health"; do
  n=$((n + 1))
  if [ $n -gt 900 ] || ! kill -0 $pid 2>/dev/null; then
    tail -n 30 "$dir/server.log" >&2
    echo "vLLM did not start" >&2
    exit 1
  fi
  sleep 1
done
cd "$root"
MIFBENCH_VLLM_URL="http://127.0.0.1:$port" go test -count=1 -v "$@" ./test/vllm/
