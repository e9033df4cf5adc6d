#!/bin/bash
#SBATCH --gpus=1
python train.py --output_dir $SLURM_TMPDIR/out
tar cf out.tar -C $SLURM_TMPDIR out
