#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2 --cpus-per-task=4
if [ -z "$SLURM_GPUS" ] || [ "$SLURM_GPUS" -eq 0 ]; then
  echo "No GPU assigned"
  exit 0
fi
srun python -m torch.distributed.run --nproc_per_node=$SLURM_GPUS train.py
