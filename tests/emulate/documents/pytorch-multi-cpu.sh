#!/bin/bash

#SBATCH --nodes=1
#SBATCH --tasks-per-node=1
#SBATCH --cpus-per-task=4

#SBATCH --mem=16G
#SBATCH --time=0-05:00
#SBATCH --output=cpu-%j.out
#SBATCH --account=def-me

module load python
virtualenv --no-download $SLURM_TMPDIR/env
source $SLURM_TMPDIR/env/bin/activate
pip install torch torchvision --no-index

echo "Start training.."
time python -c "import os, torch; torch.set_num_threads(int(os.environ['SLURM_CPUS_PER_TASK']))"
