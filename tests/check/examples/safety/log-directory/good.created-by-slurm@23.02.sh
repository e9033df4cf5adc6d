#!/bin/bash
#SBATCH --output=logs/%j.out
mkdir -p logs
srun hostname
