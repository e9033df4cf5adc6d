#!/bin/bash
#SBATCH --time=10
python train.py --output_dir /local/$SLURM_JOB_ID/run
cp -r /local/$SLURM_JOB_ID/run $HOME/results
cp train.log $HOME/results
rm -rf /local/$SLURM_JOB_ID
