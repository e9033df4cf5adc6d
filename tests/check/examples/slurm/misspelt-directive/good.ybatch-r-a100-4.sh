#!/bin/bash
#YBATCH -r a100_4
#SBATCH -N1
srun true
