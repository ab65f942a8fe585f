#!/usr/bin/env bash
# Writes what is made from the code: the reference pages of docs/.
set -eu
cd "$(dirname "$0")/.."
go run ./cmd/mifbench docs docs
