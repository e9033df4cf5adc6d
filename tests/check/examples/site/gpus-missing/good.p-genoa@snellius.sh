#!/bin/bash
#SBATCH -p genoa
#SBATCH -t 10
srun true
