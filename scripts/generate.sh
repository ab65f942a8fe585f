#!/usr/bin/env bash
# Writes what is made from the code: the reference pages of docs/ and the starters of init.
set -eu
cd "$(dirname "$0")/.."
for name in deepseek-r1-mi300x endpoint prerequisites rehearsal; do
	to=internal/cli/starters/$name
	mkdir -p "$to"
	rm -f "$to"/*.mif.hcl
	cp "examples/$name"/*.mif.hcl "$to"/
done
go run ./cmd/mifbench docs docs
