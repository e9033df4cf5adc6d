#!/bin/bash
#SBATCH -N1
#SBATCh --time=10
srun true
