#!/bin/bash
#SBATCH --time=10
docker inspect --format "{{ .State }}" x
srun python train.py
