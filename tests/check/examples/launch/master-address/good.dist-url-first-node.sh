#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
H=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun python main.py --dist-url tcp://$H:23456
