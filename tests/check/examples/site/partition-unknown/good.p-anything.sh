#!/bin/bash
#SBATCH -p anything
#SBATCH -t 5
srun true
