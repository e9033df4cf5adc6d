#!/bin/bash
#SBATCH --time=10
#SBATCH --array=1-5000
srun true
