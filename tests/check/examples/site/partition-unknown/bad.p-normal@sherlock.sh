#!/bin/bash
#SBATCH -p Normal
#SBATCH -t 5
srun true
