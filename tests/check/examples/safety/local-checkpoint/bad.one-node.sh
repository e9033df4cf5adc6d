#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=1
python train.py --output_dir $SLURM_TMPDIR/out
