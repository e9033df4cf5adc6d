#!/bin/bash
#SBATCH -N2
srun true
