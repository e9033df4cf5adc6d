#!/bin/bash
#SBATCH -n1
#SBATCH packjob # the rest
#SBATCH -n2
srun true
