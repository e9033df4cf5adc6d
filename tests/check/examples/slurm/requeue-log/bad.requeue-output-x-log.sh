#!/bin/bash
#SBATCH --requeue --output=x.log
srun true
