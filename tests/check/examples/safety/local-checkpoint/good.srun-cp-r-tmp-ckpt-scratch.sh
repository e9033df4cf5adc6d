#!/bin/bash
#SBATCH --nodes=2
srun python train.py --output_dir /tmp/ckpt
srun cp -r /tmp/ckpt $SCRATCH
