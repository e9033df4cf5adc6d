#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
srun true
