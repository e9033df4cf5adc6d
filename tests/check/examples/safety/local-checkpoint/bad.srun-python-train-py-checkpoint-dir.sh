#!/bin/bash
#SBATCH --nodes=2
srun python train.py --checkpoint-dir $SLURM_TMPDIR/x
