# shellcheck shell=bash
# The `module` command: a function, because it changes the caller's environment. Knows the modules that the profile names.

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

hpcml_module_why() { # NAME: why it cannot be loaded
  local entry
  for entry in "${hpcml_modules[@]}"; do
    if [[ -n ${entry%%|*} && ${entry#*|} == "$1" ]]; then
      printf 'module %s needs "module use %s" first\n' "$1" "${entry%%|*}"
      return
    fi
    if [[ ${entry#*|} == "${1%%/*}"/* ]]; then
      # shellcheck disable=SC2154 # from site.sh
      printf 'module %s is unknown; the profile of %s names %s\n' "$1" "$hpcml_site_name" "${entry#*|}"
      return
    fi
  done
  printf 'module %s is unknown: the profile of %s does not name it\n' "$1" "$hpcml_site_name"
}

hpcml_module_load() {
  local name known variable failed=0
  for name in "$@"; do
    if ! known=$(hpcml_module_known "$name"); then
      hpcml_module_why "$name" >&2
      failed=1
      continue
    fi
    [[ $name == */* ]] && known=$name
    case ":${LOADEDMODULES-}:" in
      *":$known:"*) ;;
      *) export LOADEDMODULES="${LOADEDMODULES:+$LOADEDMODULES:}$known" ;;
    esac
    variable=$(hpcml_module_variable "$known")
    if [[ -n $variable ]]; then
      # shellcheck disable=SC2154 # from common.sh
      export "$variable=$hpcml_state/image/${known//\//_}.sif"
      : > "${!variable}"
    fi
    # shellcheck disable=SC2154 # from site.sh
    if hpcml_among "${known%%/*}" "${hpcml_conda_modules[@]%%/*}"; then
      # shellcheck source=/dev/null
      . "$hpcml_state/conda/etc/profile.d/conda.sh"
    fi
  done
  return "$failed"
}

hpcml_module_unload() {
  local name list=":${LOADEDMODULES-}:"
  for name in "$@"; do
    list=${list//:$name:/:}
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
    purge | reset) export LOADEDMODULES= ;;
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
