#!/bin/bash
# virtualenv with a wheelhouse beside it: `pip install --no-index` then takes packages from the Python of this machine.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck disable=SC2154 # from site.sh
main() {
  local words=("$@") dir='' clear=() offline=0
  while (($#)); do
    case $1 in
      --no-download | --never-download) offline=1 ;;
      --clear) clear=(--clear) ;;
      --prompt | -p | --python) shift ;;
      --prompt=* | --python=* | -q | --quiet | --system-site-packages) ;;
      -*) hpcml_fail virtualenv 2 "unknown option $1" "${words[@]}" ;;
      *) dir=$1 ;;
    esac
    shift
  done
  [[ -n $dir ]] || hpcml_fail virtualenv 2 "no directory given" "${words[@]}"
  [[ -n $hpcml_python ]] || hpcml_fail virtualenv 1 "this machine has no Python to make an environment with" "${words[@]}"
  if ((!offline && !hpcml_internet)); then
    hpcml_fail virtualenv 1 "$hpcml_site_name's compute nodes have no internet: add --no-download" "${words[@]}"
  fi
  "$hpcml_python" -m venv --without-pip "${clear[@]}" "$dir" || hpcml_fail virtualenv 1 "could not make $dir" "${words[@]}"
  for name in pip pip3; do
    printf '#!/bin/bash\nexec %q %q --into %q "$@"\n' "$hpcml_python" "$hpcml_state/lib/wheelhouse_pip.py" "$dir" > "$dir/bin/$name"
    chmod +x "$dir/bin/$name"
  done
  hpcml_record virtualenv true "${words[@]}"
}
main "$@"
