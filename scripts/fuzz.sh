#!/usr/bin/env bash
# Runs every fuzz target for the given time each: scripts/fuzz.sh 60s [PACKAGE…]
set -u
cd "$(dirname "$0")/.." || exit 1
time=${1:-60s}
shift || true
parallel=${FUZZ_PARALLEL:-2}
failed=()
while IFS=: read -r file target; do
	package=./$(dirname "$file")
	if [ $# -gt 0 ] && [[ " $* " != *" $package "* ]]; then continue; fi
	echo "== $package $target for $time"
	# -timeout bounds a target that hangs; a fuzz run ends by -fuzztime.
	go test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -parallel "$parallel" -timeout 30m "$package" || failed+=("$package $target")
done < <(git ls-files '*_test.go' | grep -v '^test/localcluster/' | xargs grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //' | sort)
if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failed[@]}"
	exit 1
fi
