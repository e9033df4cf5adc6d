#!/bin/bash
#SBATCH --time=10
#SBATCH --account=def-me
srun true
