#!/bin/bash
#SBATCH --mem=10G
# sbatch --gres=gpu:1 job.sh
singularity exec --nv image.sif python infer.py
