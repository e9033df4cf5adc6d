#!/bin/bash
#SBATCH --time=10
cd $SCRATCH/run || exit 1
find . -delete
