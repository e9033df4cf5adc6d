#!/bin/bash
#SBATCH -p gpu_h100 -q mine
#SBATCH -t 10
srun true
