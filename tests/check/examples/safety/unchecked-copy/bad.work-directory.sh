#!/bin/bash
#SBATCH --time=10
cd $SCRATCH_DIR
python -m mlff.training.main --config c.yaml
mkdir -p $CDIR/$SLURM_JOB_ID
cp -r * $CDIR/$SLURM_JOB_ID
rm -fr $SCRATCH_DIR
