#!/bin/bash
#SBATCH --gres=gpu:0,craynetwork:1
module load daint-gpu
singularity exec --nv a.sif python count.py
