#! /usr/bin/env bash
#SBATCH --nodes=2
srun true
