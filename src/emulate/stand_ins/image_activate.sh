# shellcheck shell=bash
# Sourced inside the image with the environment's name: puts its Python first.
if [[ ${1-} != pytorch && -n ${1-} ]]; then
  printf 'activate: the image has no environment %s, only pytorch\n' "$1" >&2
  return 1
fi
export CONDA_PREFIX=@STATE_DIR@/image/env CONDA_DEFAULT_ENV=pytorch CONDA_SHLVL=1
export PATH=@STATE_DIR@/image/env/bin:$PATH
