#!/bin/bash
#SBATCH --nodes=2
srun python train.py --output_dir $SCRATCH/ckpt
