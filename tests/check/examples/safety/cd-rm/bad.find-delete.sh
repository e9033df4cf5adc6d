#!/bin/bash
#SBATCH --time=10
cd $SCRATCH/run
find . -delete
