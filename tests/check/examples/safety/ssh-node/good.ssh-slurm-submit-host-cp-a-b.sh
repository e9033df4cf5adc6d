#!/bin/bash
echo $SLURM_JOB_NODELIST
ssh $SLURM_SUBMIT_HOST cp a b
ssh -q $GO sbatch next.sh
