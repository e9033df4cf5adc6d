#!/bin/bash
# bede-mpirun: Bede's mpirun, which counts the ranks by nodes, GPUs, cores or threads (--bede-par).
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
main() {
  local words=("$@") par=1ppc number='' per_node
  while (($#)); do
    case $1 in
      --bede-par | -np | -n)
        (($# > 1)) || hpcml_fail bede-mpirun 1 "$1 needs a value" "${words[@]}"
        if [[ $1 == --bede-par ]]; then par=$2; else number=$2; fi
        shift 2
        ;;
      --) shift && break ;;
      -*) hpcml_fail bede-mpirun 1 "option $1 is not emulated (--bede-par, -np and -n are)" "${words[@]}" ;;
      *) break ;;
    esac
  done
  [[ -z ${SLURM_JOB_ID-} ]] && hpcml_fail bede-mpirun 1 "runs inside a job only" "${words[@]}"
  (($#)) || hpcml_fail bede-mpirun 1 "no program to run" "${words[@]}"
  case ${par%%:*} in
    1ppn) per_node=1 ;;
    1ppg) per_node=${SLURM_GPUS_ON_NODE:-1} ;;
    1ppc | 1ppt) per_node=${SLURM_CPUS_ON_NODE:-1} ;;
    *) hpcml_fail bede-mpirun 1 "--bede-par $par: must begin with 1ppn, 1ppg, 1ppc or 1ppt" "${words[@]}" ;;
  esac
  number=${number:-$((per_node * ${SLURM_NNODES:-1}))}
  [[ $number =~ ^[1-9][0-9]*$ ]] || hpcml_fail bede-mpirun 1 "-np $number is not a number of tasks" "${words[@]}"
  hpcml_record bede-mpirun true "${words[@]}"
  # shellcheck disable=SC2154 # from site.sh
  exec "$hpcml_srun" --mpi="$hpcml_mpi" --cpu-bind=none --overcommit --kill-on-bad-exit=1 -n "$number" \
    --ntasks-per-node="$per_node" "$hpcml_state/lib/launcher_rank" "$@"
}
main "$@"
