#!/bin/bash
#SBATCH -p standard-g -N2 --ntasks-per-node=8 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=map_cpu:1,9,17,25,33,41,49,57 ./run.sh
