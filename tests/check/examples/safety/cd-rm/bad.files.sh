#!/bin/bash
#SBATCH --time=10
cd /scratch/$USER/run
rm -f *
