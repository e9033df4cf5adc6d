# shellcheck shell=bash
# The `module` command: a function, because it changes the caller's environment. Modules that the profile does not name are assumed and
# reported.

hpcml_module_known() { # NAME: prints the known module that NAME means
  local entry path name
  # shellcheck disable=SC2154 # from site.sh
  for entry in "${hpcml_modules[@]}"; do
    path=${entry%%|*}
    name=${entry#*|}
    if [[ -n $path && :${MODULEPATH-}: != *:$path:* ]]; then continue; fi
    if [[ $1 == "$name" || ${name%%/*} == "$1" || ($name != */* && ${1%%/*} == "$name") ]]; then
      printf '%s\n' "$name"
      return 0
    fi
  done
  if [[ -n $(hpcml_module_variable "$1") ]]; then
    printf '%s\n' "$1"
    return 0
  fi
  return 1
}

hpcml_module_variable() { # NAME: the variable in which a module that gives an image names it; nothing for other modules
  local entry
  # shellcheck disable=SC2154 # from site.sh
  for entry in "${hpcml_image_modules[@]}"; do
    if [[ $1 =~ ^(${entry#*|})$ ]]; then
      printf '%s\n' "${entry%%|*}"
      return
    fi
  done
}

hpcml_module_path() { # NAME: the directory that "module use" must name before the module can be loaded; nothing for other modules
  local entry
  for entry in "${hpcml_modules[@]}"; do
    if [[ -n ${entry%%|*} && ${entry#*|} == "$1" ]]; then
      printf '%s\n' "${entry%%|*}"
      return
    fi
  done
}

hpcml_module_assumed() { # NAME: reports, once a job, a module that the profile does not name, and that the site may have
  local entry named=''
  # shellcheck disable=SC2154 # from common.sh
  mkdir -p "$hpcml_state/assumed_modules"
  mkdir "$hpcml_state/assumed_modules/${SLURM_JOB_ID-login}-${1//\//_}" 2> /dev/null || return 0
  for entry in "${hpcml_modules[@]}"; do
    if [[ ${entry#*|} == "${1%%/*}"/* ]]; then named=" (it names ${entry#*|})"; fi
  done
  # shellcheck disable=SC2154 # from site.sh
  printf 'module: the profile of %s names no module %s%s: assumed to exist, and to change nothing\n' \
    "$hpcml_site_name" "$1" "$named" >&2
}

hpcml_module_root_variable() { # NAME: the variable in which the site's modules give their directory, as EasyBuild names it: EBROOTCUDA
  local name=${1%%/*}
  # shellcheck disable=SC2154 # from site.sh
  [[ -n $hpcml_module_root_prefix ]] || return 0
  name=${name//-/min}
  name=${name//+/plus}
  name=${name^^}
  printf '%s%s\n' "$hpcml_module_root_prefix" "${name//[^A-Z0-9_]/_}"
}

hpcml_module_load() {
  local name known variable path failed=0
  for name in "$@"; do
    if ! known=$(hpcml_module_known "$name"); then
      path=$(hpcml_module_path "$name")
      if [[ -n $path || $name == -* || $name == *[[:space:]]* || -z $name ]]; then
        printf 'module: cannot load "%s"%s\n' "$name" "${path:+: it needs \"module use $path\" first}" >&2
        failed=1
        continue
      fi
      known=$name
      hpcml_module_assumed "$name"
    fi
    [[ $name == */* ]] && known=$name
    case ":${LOADEDMODULES-}:" in
      *":$known:"*) ;;
      *) export LOADEDMODULES="${LOADEDMODULES:+$LOADEDMODULES:}$known" ;;
    esac
    variable=$(hpcml_module_root_variable "$known")
    if [[ -n $variable ]]; then
      # shellcheck disable=SC2154 # from common.sh
      export "$variable=$hpcml_state/software/$known"
      mkdir -p "${!variable}"
    fi
    variable=$(hpcml_module_variable "$known")
    if [[ -n $variable ]]; then
      # shellcheck disable=SC2154 # from common.sh
      export "$variable=$hpcml_state/image/${known//\//_}.sif"
      : > "${!variable}"
    fi
    # shellcheck disable=SC2154 # from site.sh
    if hpcml_among "${known%%/*}" "${hpcml_conda_modules[@]%%/*}" || [[ ${known,,} == *conda* || ${known,,} == *forge* ]]; then
      [[ :$PATH: == *:$hpcml_state/conda/bin:* ]] || export PATH=$hpcml_state/conda/bin:$PATH
      # shellcheck source=/dev/null
      . "$hpcml_state/conda/etc/profile.d/conda.sh"
    fi
  done
  return "$failed"
}

hpcml_module_unload() {
  local name variable list=":${LOADEDMODULES-}:"
  for name in "$@"; do
    list=${list//:$name:/:}
    variable=$(hpcml_module_root_variable "$name")
    [[ -z $variable ]] || unset "$variable"
  done
  list=${list#:}
  export LOADEDMODULES="${list%:}"
}

hpcml_module() {
  local hpcml_code=0 words=("$@")
  while [[ ${1-} == -* ]]; do shift; done
  case ${1-} in
    load | add | try-load) hpcml_module_load "${@:2}" || hpcml_code=1 ;;
    use)
      [[ ${2-} == -a || ${2-} == --append ]] && shift
      export MODULEPATH="${*:2}${MODULEPATH:+:$MODULEPATH}"
      ;;
    unuse) MODULEPATH=:${MODULEPATH-}: && MODULEPATH=${MODULEPATH//:$2:/:} && MODULEPATH=${MODULEPATH#:} && export MODULEPATH="${MODULEPATH%:}" ;;
    unload | rm | del) hpcml_module_unload "${@:2}" ;;
    purge | reset)
      while [[ -n ${LOADEDMODULES-} ]]; do hpcml_module_unload "${LOADEDMODULES%%:*}"; done
      export LOADEDMODULES=
      ;;
    swap | switch) hpcml_module_unload "${2-}" && { hpcml_module_load "${@:3}" || hpcml_code=1; } ;;
    list) printf '%s\n' "${LOADEDMODULES//:/$'\n'}" >&2 ;;
    avail | av | spider) printf '%s\n' "${hpcml_modules[@]#*|}" >&2 ;;
    *)
      printf 'module: no subcommand "%s" in the emulation\n' "${1-}" >&2
      hpcml_code=1
      ;;
  esac
  if ((hpcml_code == 0)); then hpcml_record module true "${words[@]}"; else hpcml_record module false "${words[@]}"; fi
  return "$hpcml_code"
}
