#!/usr/bin/env bash
# Runs every check before failing, so that one run shows all that is wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=()
step() {
	echo "== make $1"
	make "$1" || failed+=("$1")
}
for target in test test-race lint tidy; do step "$target"; done
# Node.js is needed for the reference library only; .ci/run has it.
if command -v npm >/dev/null; then step test-tokenizers-ci; else echo "== test-tokenizers-ci: skipped, no npm"; fi
scripts/generate.sh
if ! git diff --exit-code -- docs; then failed+=("generate (docs are stale)"); fi
if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failed[@]}"
	exit 1
fi
echo "all checks passed"
