#!/bin/bash
#SBATCH --nodes=1
cd $SLURM_TMPDIR
python train.py --chkpt True
tar -cf ~/results.tar results
