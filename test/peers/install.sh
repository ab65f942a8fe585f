#!/bin/sh
# Installs the peers below DIR, once: install.sh DIR VLLM_VENV
#
# Their pins contradict each other's (transformers, psutil, rich), so each has a virtual
# environment of its own; all see vLLM's packages behind their own, so that PyTorch is
# there once.
set -eu
dir=$1
base=$2
site=$("$base/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
for tool in guidellm==0.8.1 aiperf==0.13.0 inference-perf==0.7.0; do
  venv=$dir/${tool%%==*}
  if [ -e "$venv/installed-${tool##*==}" ]; then continue; fi
  "$base/bin/python" -m venv "$venv"
  own=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$site" >"$own/vllm.pth"
  "$venv/bin/pip" install --quiet "$tool"
  touch "$venv/installed-${tool##*==}"
done
"$base/bin/pip" install --quiet pandas datasets # what vllm bench serve asks for beyond vllm serve
