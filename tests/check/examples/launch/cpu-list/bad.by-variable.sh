#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --gpus-per-node=2 --cpus-per-task=8 --time=10
srun bash -c 'case $SLURM_LOCALID in 0) C=0-7;; *) C=8-15;; esac; exec numactl --physcpubind=$C python train.py'
