#!/bin/bash
# singularity and apptainer: check what they are asked, map the binds in a private mount namespace, run the program there.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"

tool=${0##*/}
words=("$@")
binds=() settings=() image='' where='' clean=0
fail() { hpcml_fail "$tool" 255 "$1" "${words[@]}"; }

add_binds() { # SRC[:DST[:OPTIONS]],…
  local one
  local -a many
  IFS=, read -ra many <<< "$1"
  for one in "${many[@]}"; do
    # "a:b:ro,nosuid": a piece without a slash continues the options before it
    [[ $one == /* || $one == .* || $one == *:* || -e $one ]] && binds+=("$one")
  done
}

add_settings() { # NAME=VALUE,NAME=VALUE
  local one
  local -a many
  IFS=, read -ra many <<< "$1"
  for one in "${many[@]}"; do
    if [[ $one == [A-Za-z_]*=* ]]; then
      settings+=("$one")
    elif ((${#settings[@]})); then
      settings[-1]+=,$one
    else
      fail "--env $1 is not NAME=VALUE"
    fi
  done
}

need_gpu() { # FLAG VENDOR
  # shellcheck disable=SC2154 # from site.sh
  [[ $hpcml_gpu_vendor == "$2" ]] || fail "$1 is for $2 GPUs; $hpcml_site_name has ${hpcml_gpu_vendor:-none}"
}

parse_options() { # leaves the rest of the line in `rest`
  while (($#)); do
    local value=${1#*=}
    case $1 in
      --bind | -B | --mount | --env | --env-file | --pwd | --cwd | --home | -H | --overlay | -o | --scratch | -S | --workdir | -W)
        (($# > 1)) || fail "$1 needs a value"
        take "$1" "$2"
        shift
        ;;
      --bind=* | --mount=* | --env=* | --env-file=* | --pwd=* | --cwd=* | --home=* | --overlay=* | --scratch=* | --workdir=*)
        take "${1%%=*}" "$value"
        ;;
      -B?*) add_binds "${1#-B}" ;;
      --nv | --nvccli) need_gpu "$1" nvidia ;;
      --rocm) need_gpu "$1" amd ;;
      -e | --cleanenv | -C | --containall) clean=1 ;;
      -c | --contain | --no-home | --writable-tmpfs | -i | --ipc | -p | --pid | -u | --userns | --no-mount=* | -w | --writable | --fakeroot | -f | --unsquash | --compat) ;;
      --) shift && break ;;
      -*) fail "unknown option $1" ;;
      *) break ;;
    esac
    shift
  done
  rest=("$@")
}

take() { # OPTION VALUE
  case $1 in
    --bind | -B) add_binds "$2" ;;
    --mount) fail "--mount is not emulated: write --bind SRC:DST" ;;
    --env) add_settings "$2" ;;
    --env-file)
      [[ -r $2 ]] || fail "cannot read the variables' file $2"
      while IFS= read -r line; do [[ $line == [A-Za-z_]*=* ]] && settings+=("$line"); done < "$2"
      ;;
    --pwd | --cwd) where=$2 ;;
    --overlay | -o)
      if hpcml_only_at_site "${2%%:*}"; then
        hpcml_assume "$tool" "overlay ${2%%:*}"
      else
        [[ -e ${2%%:*} ]] || fail "overlay ${2%%:*} does not exist"
      fi
      ;;
    *) ;;
  esac
}

# Pairs SRC DST for the binds that can be made here. What the profile names exists on the site, if not on this machine.
resolve_binds() {
  local bind source target
  pairs=()
  for bind in "${binds[@]}"; do
    source=${bind%%:*}
    target=${bind#*:}
    [[ $bind == *:* ]] || target=$source
    target=${target%%:*}
    [[ $target == /* ]] || fail "the target of bind $bind must be an absolute path"
    if [[ ! -e $source ]]; then
      # shellcheck disable=SC2154 # from site.sh
      hpcml_among "$source" "${hpcml_site_paths[@]}" && continue
      hpcml_only_at_site "$source" && hpcml_assume "$tool" "mount source $source" && continue
      fail "mount source $source does not exist"
    fi
    source=$(realpath -- "$source")
    [[ $source == "$target" ]] || pairs+=("$source" "$target")
  done
}

# The environment inside: the host's, the image's PATH, then what was set for the container only.
enter_environment() {
  local name setting
  if ((clean)); then
    for name in $(compgen -e); do
      case $name in
        HOME | USER | TERM | LANG | LOGNAME | SINGULARITYENV_* | APPTAINERENV_*) ;;
        *) unset "$name" ;;
      esac
    done
  fi
  # What --env names goes before these.
  local given=("${settings[@]}")
  settings=()
  for name in $(compgen -e SINGULARITYENV_) $(compgen -e APPTAINERENV_); do
    settings+=("${name#*ENV_}=${!name}")
    unset "$name"
  done
  settings+=("${given[@]}")
  # shellcheck disable=SC2154 # from site.sh
  export PATH="$hpcml_image_path:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  export SINGULARITY_CONTAINER=$image APPTAINER_CONTAINER=$image SINGULARITY_NAME=${image##*/} APPTAINER_NAME=${image##*/}
  # shellcheck disable=SC2154 # from site.sh
  [[ -n $hpcml_enter_variable ]] && export "$hpcml_enter_variable=source $hpcml_state/image/miniconda3/bin/activate pytorch"
  unset BASH_ENV 'BASH_FUNC_module%%' 'BASH_FUNC_ml%%' 2> /dev/null
  unset -f module ml
  for setting in "${settings[@]}"; do export "${setting?}"; done
}

main() {
  local action namespace=(unshare --mount --propagation private)
  while [[ ${1-} == -* ]]; do
    case $1 in
      --version) echo "$tool (emulated by hpcml)" && exit 0 ;;
      -q | --quiet | -s | --silent | -d | --debug | -v | --verbose | --nocolor) shift ;;
      *) fail "unknown option $1" ;;
    esac
  done
  action=${1-}
  case $action in
    exec | run | shell) shift ;;
    *) fail "'$action' is not emulated (exec, run, shell are)" ;;
  esac
  parse_options "$@"
  image=${rest[0]-}
  [[ -n $image ]] || fail "no image given"
  [[ $image == *://* ]] && fail "$image: images from a registry are not emulated, give a file"
  if hpcml_only_at_site "$image"; then
    hpcml_assume "$tool" "image $image"
  else
    [[ -e $image ]] || fail "image $image does not exist (to rehearse without the image, create an empty file there)"
    image=$(realpath -- "$image")
  fi
  # A module's image activates its environment by itself.
  [[ ${image%/*} -ef $hpcml_state/image ]] && hpcml_image_path=$hpcml_state/image/bin:$hpcml_state/image/env/bin
  if [[ $(head -c 33 -- "$image" 2> /dev/null | tr -d '\0') == "hpcml: an image that cotainr buil"* ]]; then # its environment needs no entering
    [[ -z $hpcml_enter_variable ]] || hpcml_image_path+=:${hpcml_image_path%/bin}/env/bin
    hpcml_enter_variable=
  fi
  local program=("${rest[@]:1}")
  [[ $action == shell ]] && program=(/bin/bash "${program[@]}")
  ((${#program[@]})) || fail "no program to run in the image"
  local variable
  for variable in SINGULARITY_BIND SINGULARITY_BINDPATH APPTAINER_BIND APPTAINER_BINDPATH; do
    [[ -n ${!variable-} ]] && add_binds "${!variable}"
  done
  resolve_binds
  hpcml_record "$tool" true "${words[@]}"
  enter_environment
  local user=''
  if ((EUID)); then
    user=$EUID:$(id -g)
    namespace+=(--user --map-root-user) # to mount; the program gets its own user back
  fi
  exec "${namespace[@]}" -- /bin/bash "$hpcml_state/lib/container_root" "$hpcml_state/root" "${where:-$PWD}" "$user" "${#pairs[@]}" \
    "${pairs[@]}" "${program[@]}"
}
main "$@"
