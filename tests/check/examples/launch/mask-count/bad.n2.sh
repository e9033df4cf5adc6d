#!/bin/bash
#SBATCH -N2
srun --ntasks-per-node=4 --cpu-bind=verbose,mask_cpu:0xff,0xff00,0xff0000 ./run
