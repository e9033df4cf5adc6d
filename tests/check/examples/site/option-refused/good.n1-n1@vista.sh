#!/bin/bash
#SBATCH -p gh
#SBATCH -N1 -n1
#SBATCH -t 10
#SBATCH --exclude=c610-001
ibrun true
