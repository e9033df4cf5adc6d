# shellcheck shell=bash
# Sourced by sbatch after common.sh: a script for the site may name an hpcml and Python environments that only the site has.
# shellcheck source=/dev/null disable=SC2154 # from common.sh
. "$hpcml_state/lib/python_env.sh"

# hpcml_site_env PATH: prints an environment with this machine's Python and packages that stands for the one at PATH; fails if none can be made.
hpcml_site_env() {
  local env=$hpcml_state/site_envs$1
  # shellcheck disable=SC2154 # from site.sh
  [[ -n $hpcml_python ]] || return 1
  [[ -e $env/bin/activate ]] || hpcml_make_env "$env" -- --system-site-packages || return 1
  printf '%s\n' "$env"
}

# hpcml_adapt SCRIPT: prints the script to submit: itself, or a copy in which what only the site has is replaced by what this machine has.
hpcml_adapt() {
  local script=$1 line path stand_in indent changed=0
  local -a lines
  local environment='^([[:space:]]*)(source|\.)[[:space:]]+["'\'']?(/[^[:space:]"'\''$;&|]+)/bin/activate["'\'']?[[:space:]]*(#.*)?$'
  mapfile -t lines < "$script" || return 1
  for i in "${!lines[@]}"; do
    line=${lines[i]}
    # shellcheck disable=SC2154 # from site.sh
    if [[ $line =~ ^HPCML=[\'\"]?(/[^[:space:]\'\"]+)[\'\"]?$ ]]; then
      path=${BASH_REMATCH[1]}
      [[ ! -e $path && -x $hpcml_program ]] || continue
      printf -v lines[i] 'HPCML=%q' "$hpcml_program"
      stand_in="the job runs this hpcml"
    elif [[ $line =~ $environment ]]; then
      indent=${BASH_REMATCH[1]} path=${BASH_REMATCH[3]}
      [[ ! -e $path ]] || continue
      stand_in=$(hpcml_site_env "$path") || continue
      printf -v lines[i] '%ssource %q' "$indent" "$stand_in/bin/activate"
      stand_in="the job uses this machine's Python and its packages"
    else
      continue
    fi
    changed=1
    printf 'sbatch: assuming that %s is at the site: this machine does not have it, %s\n' "$path" "$stand_in" >&2
  done
  ((changed)) || { printf '%s\n' "$script" && return; }
  path=$(mktemp -d "$hpcml_state/script-XXXXXX")/${script##*/} || return 1
  printf '%s\n' "${lines[@]}" > "$path" || return 1
  chmod --reference="$script" -- "$path"
  printf '%s\n' "$path"
}
