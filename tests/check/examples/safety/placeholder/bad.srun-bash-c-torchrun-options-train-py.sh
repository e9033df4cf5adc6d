#!/bin/bash
#SBATCH -N1
srun bash -c "torchrun <options> train.py"
