#!/bin/bash
#SBATCH --gpus=1
python train.py --output_dir $SLURM_TMPDIR/out
python eval.py --model $SLURM_TMPDIR/out
