#!/bin/bash
#SBATCH --ntasks=4
python run.py --processes $SLURM_NTASKS
