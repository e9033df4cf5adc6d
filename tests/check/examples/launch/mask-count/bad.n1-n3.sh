#!/bin/bash
#SBATCH -N1 -n3
srun --cpu-bind=map_cpu:0,8 ./run
