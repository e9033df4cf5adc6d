#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2 --cpus-per-task=4
if [ -z "$SLURM_GPUS" ]; then
  SLURM_GPUS=2
fi
srun python -m torch.distributed.run --nproc_per_node=$SLURM_GPUS train.py
