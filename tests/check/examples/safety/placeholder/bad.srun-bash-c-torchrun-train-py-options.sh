#!/bin/bash
#SBATCH -N1
srun bash -c "torchrun train.py <options>"
