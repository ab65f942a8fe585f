#!/bin/sh
# texts.sh DIR: code, Chinese and Japanese for TestOracleLengths, as DIR/{code,chinese,japanese}.txt.
# The code is the Go installation's; the others are manuals from Debian packages, which are
# fetched and unpacked but not installed. Without apt-get there is code only.
set -eu
dir=$1
mkdir -p "$dir/packages"
find "$(go env GOROOT)/src" -name '*.go' -size +8k | sort | head -n 900 | xargs cat 2>/dev/null | head -c 12000000 >"$dir/code.txt"
command -v apt-get >/dev/null || { echo "no apt-get: no Chinese and Japanese text" >&2; exit 0; }
# plain NAME PACKAGE…: the packages' texts, without the manuals' macros and lines in ASCII
plain() {
  out=$dir/$1.txt
  shift
  [ -s "$out" ] && return
  for p in "$@"; do
    (cd "$dir/packages" && apt-get download "$p" >/dev/null 2>&1 && mkdir -p "$p" && dpkg-deb -x "$p"_*.deb "$p" && rm "$p"_*.deb) ||
      echo "$p cannot be had by apt-get download; apt-get update may help" >&2
  done
  for p in "$@"; do
    find "$dir/packages/$p" -type f -name '*.gz' ! -name 'changelog*' | sort | xargs -r gzip -cd
  done | grep -av "^[.']" | LC_ALL=C grep -a "$(printf '[\200-\377]')" | iconv -f utf-8 -t utf-8 -c | sed 's/\\f[A-Z]//g; s/\\-/-/g' >"$out.new" || true
  if [ -s "$out.new" ]; then mv "$out.new" "$out"; else rm -f "$out.new"; fi
}
plain chinese manpages-zh debian-reference-zh-cn
plain japanese manpages-ja manpages-ja-dev debian-reference-ja
