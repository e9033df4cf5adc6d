#!/bin/bash
#SBATCH --nodes=2
#SLURM --time=10
srun true
