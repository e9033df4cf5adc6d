#!/bin/bash
# SLURM settings
#SBATCH --nodes=2
