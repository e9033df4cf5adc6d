#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --time=10
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
cleanup() { srun --nodes=1 --ntasks=1 -w "$head" ray stop; }
trap cleanup EXIT
srun --nodes=1 --ntasks=1 -w "$head" ray start --head --block &
sleep 10
python train.py
