#!/bin/bash
#SBATCH --nodes=2 packjob
#SBATCH --nodes=1
srun true
