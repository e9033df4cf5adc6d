#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 --gpus-per-node=4 --time=1:00:00
srun mytrainer fit --config a.yaml
