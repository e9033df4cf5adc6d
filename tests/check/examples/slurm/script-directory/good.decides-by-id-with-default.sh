#!/bin/bash
#SBATCH --nodes=1
HERE="${PROJECT:?}"
if [[ "${SLURM_JOB_ID:-local}" == local ]]; then
  HERE="$(cd "$(dirname "$0")" && pwd)"
fi
srun python "$HERE/train.py"
