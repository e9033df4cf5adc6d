# shellcheck shell=bash
# Sourced: makes `conda activate NAME` work in this shell, also under `set -eu`.

conda() {
  local hpcml_prefix hpcml_name
  case ${1-} in
    activate)
      hpcml_name=${2:-base}
      hpcml_prefix=@STATE_DIR@/conda/envs/$hpcml_name
      if [[ $hpcml_name == */* ]]; then
        hpcml_prefix=$hpcml_name
        [[ -x $hpcml_prefix/bin/python ]] || hpcml_prefix=@STATE_DIR@/conda/envs/${hpcml_name//\//_}
      fi
      if [[ ! -x $hpcml_prefix/bin/python ]]; then
        @STATE_DIR@/conda/bin/conda hpcml-adopt "$hpcml_name" "$hpcml_prefix" || return 1
      fi
      conda deactivate
      export CONDA_PREFIX=$hpcml_prefix CONDA_DEFAULT_ENV=$hpcml_name CONDA_SHLVL=1
      export PATH=$hpcml_prefix/bin:$PATH
      ;;
    deactivate)
      [[ -n ${CONDA_PREFIX-} ]] || return 0
      PATH=:$PATH:
      PATH=${PATH//:$CONDA_PREFIX\/bin:/:}
      PATH=${PATH#:}
      PATH=${PATH%:}
      unset CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_SHLVL
      ;;
    *) @STATE_DIR@/conda/bin/conda "$@" ;;
  esac
}
