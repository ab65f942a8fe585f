#!/usr/bin/env bash
# One minute without a control plane: examples/endpoint against mifbench simulate.
set -eu
cd "$(dirname "$0")/.."
work=$PWD/.demo
mkdir -p "$work"
scripts/texts.sh "$work/texts"
bin/mifbench simulate --listen 127.0.0.1:18000 2>"$work/simulate.log" &
engine=$!
trap 'kill $engine 2>/dev/null || true; wait $engine 2>/dev/null || true' EXIT
for _ in $(seq 50); do
	(: </dev/tcp/127.0.0.1/18000) 2>/dev/null && break
	sleep 0.1
done
bin/mifbench --chdir examples/endpoint run --out "$work/runs" --endpoint http://127.0.0.1:18000 --var "text=$work/texts/gutenberg"
