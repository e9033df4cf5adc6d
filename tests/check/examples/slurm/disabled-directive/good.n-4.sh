#!/bin/bash
#SBATCH -n 4
# SBATCH --exclude=gn[07,11]
# SBATCH --exclusive
