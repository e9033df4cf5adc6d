#!/bin/bash
#SBATCH --nodes=1
# packjob
srun true
