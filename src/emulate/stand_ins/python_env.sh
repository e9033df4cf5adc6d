# shellcheck shell=bash
# Sourced by the programs that make environments of Python, after common.sh.

# hpcml_make_env DIRECTORY PIP-OPTION… -- VENV-OPTION…: an environment with this machine's Python, in which `pip install` takes packages
# from this machine's Python.
hpcml_make_env() {
  local directory=$1 pip='' name packages
  shift
  [[ $directory == /* ]] || directory=$PWD/$directory
  while (($#)) && [[ $1 != -- ]]; do
    pip+=" $1"
    shift
  done
  # shellcheck disable=SC2154 # from site.sh
  "$hpcml_python" -m venv --without-pip "${@:2}" -- "$directory" || return 1
  for name in pip pip3; do
    # shellcheck disable=SC2154 # from common.sh
    printf '#!/bin/bash\nexec %q %q --into %q%s "$@"\n' "$hpcml_python" "$hpcml_state/lib/wheelhouse_pip.py" "$directory" "$pip" \
      > "$directory/bin/$name"
    chmod +x "$directory/bin/$name"
  done
  for packages in "$directory"/lib/python3*/site-packages; do # python -m pip
    mkdir -p "$packages/pip"
    : > "$packages/pip/__init__.py"
    printf '%s\n' 'import os, sys' 'from pathlib import Path' 'pip = str(Path(__file__).absolute().parents[4] / "bin" / "pip")' \
      'os.execv(pip, [pip] + sys.argv[1:])' > "$packages/pip/__main__.py"
  done
}
