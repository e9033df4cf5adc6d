#!/bin/bash
#SBATCH --nodes=10
python run-melt.py --launcher=slurm --sim_nodes=9
