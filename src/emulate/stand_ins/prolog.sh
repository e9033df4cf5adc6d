#!/bin/bash
# Run by slurmd on a node before a job's first task there: notes that the job is on the node, after what others left is gone.
# shellcheck disable=SC2154 # from site.sh and tidy_node.sh
# shellcheck source=/dev/null
. "@STATE_DIR@/lib/site.sh"
# shellcheck source=/dev/null
. "@STATE_DIR@/lib/tidy_node.sh"
for other in "$jobs"/*; do # a job whose epilog is still to come is over all the same
  if [[ ${other##*/} != "$SLURM_JOB_ID" ]] && state=$("${hpcml_srun%/*}/squeue" -h -o %T -j "${other##*/}" 2> /dev/null) &&
    [[ $state != [RS]* ]]; then
    rmdir "$other"
  fi
done
mkdir -p "$jobs/${SLURM_JOB_ID:?}"
: >> "@STATE_DIR@/job_began" # what faults count from
tidy_node
exit 0 # Slurm closes a node whose prolog fails
