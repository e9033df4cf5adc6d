#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2 --cpus-per-task=4
if [ -z "$SLURM_GPUS" ]; then
  count=2
else
  count=$SLURM_GPUS
fi
srun python -m torch.distributed.run --nproc_per_node=$count train.py
