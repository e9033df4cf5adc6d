#!/bin/bash
# ibrun: starts the ranks on the nodes of the job, as an MPI launcher does: ranks come in the site's variables, not in Slurm's.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
main() {
  local words=("$@") number='' offset=''
  while (($#)); do
    case $1 in
      -np | -n | -o)
        (($# > 1)) || hpcml_fail ibrun 1 "$1 needs a value" "${words[@]}"
        if [[ $1 == -o ]]; then offset=$2; else number=$2; fi
        shift 2
        ;;
      --) shift && break ;;
      -*) hpcml_fail ibrun 1 "unknown option $1 (known: -n N, -np N, -o OFFSET)" "${words[@]}" ;;
      *) break ;;
    esac
  done
  [[ -z ${SLURM_JOB_ID-} ]] && hpcml_fail ibrun 1 "runs inside a job only" "${words[@]}"
  (($#)) || hpcml_fail ibrun 1 "no program to run" "${words[@]}"
  [[ $number =~ ^[1-9][0-9]*$ || -z $number ]] || hpcml_fail ibrun 1 "-n $number is not a number of tasks" "${words[@]}"
  [[ -n $offset && $offset != 0 ]] && hpcml_fail ibrun 1 "-o $offset: only offset 0 is emulated" "${words[@]}"
  number=${number:-${SLURM_NTASKS:-${SLURM_NNODES:-1}}}
  if ((number > ${SLURM_NTASKS:-${SLURM_NNODES:-1}})); then
    hpcml_fail ibrun 1 "$number tasks do not fit the ${SLURM_NTASKS:-${SLURM_NNODES:-1}} that the job asked for" "${words[@]}"
  fi
  hpcml_record ibrun true "${words[@]}"
  export HPCML_LAUNCHER_PROCID=${SLURM_PROCID-} HPCML_LAUNCHER_LOCALID=${SLURM_LOCALID-} HPCML_LAUNCHER_NODEID=${SLURM_NODEID-}
  # shellcheck disable=SC2154 # from site.sh
  exec "$hpcml_srun" --mpi="$hpcml_mpi" --cpu-bind=none --kill-on-bad-exit=1 -n "$number" "$hpcml_state/lib/launcher_rank" "$@"
}
main "$@"
