#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
PY=$(which python)
source settings.sh
args=(--num_workers 8)
[ -e last.pt ] && args+=(--resume last.pt)
srun $PY train.py "${args[@]}"
