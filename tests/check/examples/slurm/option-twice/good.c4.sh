#!/bin/bash
#SBATCH --nodes=2
#SBATCH -c4
#SBATCH hetjob
#SBATCH --nodes=3
#SBATCH -c4
