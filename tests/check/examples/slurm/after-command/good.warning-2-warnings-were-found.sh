#!/bin/bash
#SBATCH -N2
srun true
#SBATCH WARNING: 2 warnings were found.
