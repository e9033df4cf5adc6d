# shellcheck shell=bash
# Sourced: makes `conda activate NAME` work in this shell. Knows the environments that the profile names, and prefixes that exist.

conda() {
  local hpcml_prefix
  case ${1-} in
    activate)
      hpcml_prefix=@STATE_DIR@/conda/envs/${2:-base}
      [[ ${2-} == */* ]] && hpcml_prefix=$2
      if [[ ! -x $hpcml_prefix/bin/python ]]; then
        @STATE_DIR@/bin/conda "$@" 2> /dev/null
        printf 'conda: there is no environment %s; the emulated site has: %s\n' "${2:-base}" \
          "$(cd @STATE_DIR@/conda/envs && echo *)" >&2
        return 1
      fi
      conda deactivate
      export CONDA_PREFIX=$hpcml_prefix CONDA_DEFAULT_ENV=${hpcml_prefix##*/} CONDA_SHLVL=1
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
    *) @STATE_DIR@/bin/conda "$@" ;;
  esac
}
