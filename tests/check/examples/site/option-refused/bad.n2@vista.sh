#!/bin/bash
#SBATCH -p gh
#SBATCH -N2
#SBATCH -n2
#SBATCH -t 10
#SBATCH --export=ALL
ibrun true
