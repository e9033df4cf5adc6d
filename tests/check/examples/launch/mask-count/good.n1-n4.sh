#!/bin/bash
#SBATCH -N1 -n4
srun --cpu-bind=mask_cpu:0xf*4 ./run
