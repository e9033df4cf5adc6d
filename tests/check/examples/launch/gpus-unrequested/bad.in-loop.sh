#!/bin/bash
#SBATCH --cpus-per-task=4
for seed in 1 2; do
  srun singularity run --nv image.sif python train.py --seed $seed
done
