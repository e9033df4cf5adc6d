#!/bin/bash
#SBATCH --time=10
pushd $SCRATCH/run
rm -rf *
