#!/bin/bash
# conda, as far as scripts use it: environments that the profile names, that are made here, and that a person may have on the site.
here=${BASH_SOURCE[0]%/bin/*}
# shellcheck source=/dev/null
. "${here%/conda}/lib/common.sh"
# shellcheck source=/dev/null
. "${here%/conda}/lib/python_env.sh"
# shellcheck disable=SC2154 # from common.sh
words=("$@") envs=$hpcml_state/conda/envs
fail() { hpcml_fail conda 1 "$1" "${words[@]}"; }
say() { printf 'conda: %s\n' "$1" >&2; }
need_python() {
  # shellcheck disable=SC2154 # from site.sh
  [[ -n $hpcml_python ]] || fail "this machine has no Python for an environment"
}

# From the words: the environment's directory, the packages, and whether --yes was given.
parse() {
  prefix='' packages=() yes=0
  while (($#)); do
    case $1 in
      -n | --name | -p | --prefix | -c | --channel | -f | --file | --clone | --solver | --platform | --subdir)
        (($# > 1)) || fail "$1 needs a value"
        take "$1" "$2"
        shift
        ;;
      --*=*) take "${1%%=*}" "${1#*=}" ;;
      -y | --yes) yes=1 ;;
      -*) ;;
      *) packages+=("$1") ;;
    esac
    shift
  done
}
take() { # OPTION VALUE
  case $1 in
    -n | --name) prefix=$envs/$2 ;;
    -p | --prefix) prefix=$2 ;;
    -f | --file)
      [[ -r $2 ]] || fail "cannot read $2"
      [[ -n $prefix ]] || prefix=$(sed -n "s|^name: *\([^ #]*\).*|$envs/\1|p" -- "$2")
      ;;
  esac
}

# What this machine's Python has of the packages.
install_packages() {
  local one names=()
  for one in "${packages[@]}"; do
    one=${one##*::}
    one=${one%%[=<>! ]*}
    case $one in
      python | pip | setuptools | wheel | cudatoolkit | pytorch-cuda | cpuonly) ;;
      pytorch) names+=(torch) ;;
      *) names+=("$one") ;;
    esac
  done
  ((${#names[@]} == 0)) || "$prefix/bin/pip" --what-is-here install "${names[@]}"
}

create() {
  parse "$@"
  [[ -n $prefix ]] || fail "one of --name and --prefix is needed"
  need_python
  if [[ -e $prefix ]]; then
    if ((!yes)) || [[ ! -d $prefix/conda-meta ]]; then fail "prefix already exists: $prefix"; fi
    rm -rf -- "$prefix"
  fi
  ((yes)) || [[ -t 0 ]] || say "on the site it asks \"Proceed ([y]/n)?\" here: write --yes where nobody answers"
  hpcml_make_env "$prefix" --any-index -- || fail "could not make $prefix"
  mkdir -p "$prefix/conda-meta"
  install_packages || fail "could not install ${packages[*]}"
  hpcml_record conda true "${words[@]}"
  printf 'To activate this environment, use: conda activate %s\n' "${prefix#"$envs/"}"
}

# For `conda activate`: an environment that the profile does not know is one that the person has on the site.
adopt() { # NAME-OR-PREFIX DIRECTORY
  need_python
  local made
  mkdir -p "$envs"
  made=$(mktemp -d "$envs/.new-XXXXXX") || fail "could not make an environment"
  cp -- "$hpcml_state"/lib/python_stubs/* "$made"
  mkdir -p "$2"
  mv -T -- "$made" "$2/bin" 2> /dev/null || rm -rf -- "$made" # another task was first
  # shellcheck disable=SC2154 # from site.sh
  say "the profile of $hpcml_site_name names no environment $1 (it has: ${hpcml_conda_envs[*]:-none}): taken for one of yours, with this machine's Python"
  hpcml_record conda true "${words[@]}"
}

# shellcheck disable=SC2154 # from site.sh
case "${1-} ${2-}" in
  "info --base") hpcml_record conda true "$@" && echo "$hpcml_state/conda" ;;
  "shell.bash hook" | "shell.posix hook") hpcml_record conda true "$@" && echo ". '$hpcml_state/conda/etc/profile.d/conda.sh'" ;;
  "--version " | "-V ") echo "conda (emulated by hpcml)" ;;
  "init "* | "config "* | "clean "*) hpcml_record conda true "$@" ;;
  "env list" | "info --envs" | "info -e")
    hpcml_record conda true "$@"
    for directory in "$envs"/*/; do
      directory=${directory%/}
      echo "${directory##*/}  $directory"
    done
    ;;
  "create "*) create "${@:2}" ;;
  "env create") create --yes "${@:3}" ;;
  "install "* | "update "*)
    parse "${@:2}"
    prefix=${prefix:-${CONDA_PREFIX-}}
    [[ -d $prefix/conda-meta ]] || fail "$1: ${prefix:-base} is not an environment that was made here"
    install_packages || fail "could not install ${packages[*]}"
    hpcml_record conda true "$@"
    ;;
  "env remove" | "remove "*)
    parse "${@:2}"
    [[ -d $prefix/conda-meta ]] || fail "remove: ${prefix:-base} is not an environment that was made here"
    rm -rf -- "$prefix"
    hpcml_record conda true "$@"
    ;;
  "hpcml-adopt "*) adopt "$2" "$3" ;;
  "activate "* | "deactivate "*)
    fail "run 'source \$(conda info --base)/etc/profile.d/conda.sh' before 'conda $1'"
    ;;
  *) fail "'$*' is not emulated (create, env create, env list, install, remove, activate, info --base are)" ;;
esac
