#!/bin/bash
#SBATCH --output=x.log
#SBATCH --requeue # on failure
srun true
