#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH -p small
srun true
