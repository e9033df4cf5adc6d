#!/bin/bash
# Run by slurmd on each node of a job at its end: the job's own directory goes, and what it left in those for temporary files.
# shellcheck disable=SC2154 # jobs is from tidy_node.sh
# shellcheck source=/dev/null
. "@STATE_DIR@/lib/tidy_node.sh"
rm -rf "@STATE_DIR@/local/${SLURM_JOB_USER:?}.${SLURM_JOB_ID:?}.0"
rmdir "$jobs/$SLURM_JOB_ID" 2> /dev/null
tidy_node
exit 0
