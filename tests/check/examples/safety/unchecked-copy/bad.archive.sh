#!/bin/bash
#SBATCH --time=10
srun python train.py --save_dir /scratch/$USER/out
tar -czf $HOME/out.tar.gz -C /scratch/$USER /scratch/$USER/out
rm -rf /scratch/$USER/out
