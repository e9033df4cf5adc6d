#!/bin/bash
# idev: an interactive job on a compute node, with the job's whole request: its tasks are for ibrun and srun.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
main() {
  local words=("$@") options=() pty=()
  while (($#)); do
    case $1 in
      -p | -N | -n | -t | -A | -r | -m)
        (($# > 1)) || hpcml_fail idev 1 "$1 needs a value" "${words[@]}"
        case $1 in
          -r) options+=("--reservation=$2") ;;
          -m) options+=(-t "$2") ;;
          *) options+=("$1" "$2") ;;
        esac
        shift 2
        ;;
      *) hpcml_fail idev 1 "unknown option $1 (known: -p, -N, -n, -t, -m, -A, -r)" "${words[@]}" ;;
    esac
  done
  hpcml_record idev true "${words[@]}"
  [[ -t 0 ]] && pty=(--pty)
  # An interactive step takes none of the job's resources, so that the shell's own steps get them.
  # shellcheck disable=SC2154 # from site.sh
  exec "$hpcml_salloc" "${options[@]}" "$hpcml_srun" --interactive --preserve-env --mpi=none -N1 -n1 "${pty[@]}" \
    "$hpcml_state/lib/idev_shell"
}
main "$@"
