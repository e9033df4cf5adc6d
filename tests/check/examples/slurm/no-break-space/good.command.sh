#!/bin/bash
#SBATCH --job-name=run
# a comment
srun echo a b
