#!/bin/bash
#SBATCH -p russpold,normal
#SBATCH -t 5
srun true
