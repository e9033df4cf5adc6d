#!/bin/bash
#SBATCH -N1
srun true
