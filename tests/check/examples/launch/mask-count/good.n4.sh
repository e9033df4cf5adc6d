#!/bin/bash
#SBATCH -n4
srun --cpu-bind=mask_cpu:0xff ./run
