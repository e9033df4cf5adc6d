#!/bin/bash
# sbatch. The real one asks every 2 s whether a job that it waits for has ended. The cluster is on this machine: it is asked more often.
# What the script has only at the site is replaced in the submitted copy.
# shellcheck source=/dev/null
. "@STATE_DIR@/lib/common.sh"
# shellcheck source=/dev/null
. "@STATE_DIR@/lib/site_files.sh"
# shellcheck disable=SC2154 # from site.sh
slurm=${hpcml_srun%/*}

# True if sbatch may wait for the job, by its options, its environment or a directive.
may_wait() {
  local word
  [[ -z ${SBATCH_WAIT+set} ]] || return 0
  for word in "$@"; do
    [[ $word != -[!-]*W* && $word != -W* && $word != --wai* ]] || return 0
    if [[ -f $word ]]; then
      grep -qE '^#SBATCH.*[[:space:]](-[[:alpha:]]*W|--wai)' -- "$word"
      return
    fi
  done
  return 1
}

# exit_code JOB: the code that sbatch ends with after the job, the highest of its tasks and components; fails while one has not ended.
exit_code() {
  local records record state code highest=0
  records=$("$slurm/scontrol" -o show job "$1" 2> /dev/null) || return
  while IFS= read -r record; do
    state=${record#* JobState=} code=${record#* ExitCode=}
    state=${state%% *} code=${code%% *}
    case $state in
      BOOT_FAIL | CANCELLED | COMPLETED | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | TIMEOUT) ;;
      *) return 1 ;;
    esac
    [[ $code == *:0 ]] || code=1
    ((highest >= ${code%:*})) || highest=${code%:*}
  done <<< "$records"
  printf '%s\n' "$highest"
}

# Puts the words of sbatch into `words`, with the script that the cluster can run in the place of the given one.
adapt_words() {
  local start adapted
  words=("$@")
  for i in "${!words[@]}"; do
    start=''
    # The first file that begins as a script does: values of options may be files, too.
    [[ -f ${words[i]} ]] && IFS= read -r -n 2 start < "${words[i]}"
    [[ $start == '#!' ]] || continue
    adapted=$(hpcml_adapt "${words[i]}") && words[i]=$adapted
    return
  done
}

main() {
  local -a words
  adapt_words "$@"
  set -- "${words[@]}"
  may_wait "$@" || exec "$slurm/sbatch" "$@"
  local line='' job='' code status pause=0.25
  exec {answer}< <(exec "$slurm/sbatch" "$@")
  local sbatch=$!
  # shellcheck disable=SC2064 # this process
  trap "{ kill $sbatch; wait $sbatch; } 2> /dev/null" EXIT
  while :; do
    ((SECONDS < 60)) || pause=1
    IFS= read -r -t "$pause" -u "$answer" line
    status=$?
    if ((status == 0)); then
      printf '%s\n' "$line"
      [[ $line =~ ([0-9]+)(\;.*)?$ ]] && job=${BASH_REMATCH[1]}
    elif ((status == 1)); then
      wait "$sbatch"
      exit
    elif [[ -n $job ]] && code=$(exit_code "$job"); then
      exit "$code"
    fi
  done
}
main "$@"
