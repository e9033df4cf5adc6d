#!/bin/bash
#SBATCH -p gh
#SBATCH -N1
#SBATCH -n1
#SBATCH -t 10
bash Miniconda3-latest-Linux-x86_64.sh -b
