#!/bin/bash
#SBATH --nodes=2
#SBATCH -n 2
srun true
