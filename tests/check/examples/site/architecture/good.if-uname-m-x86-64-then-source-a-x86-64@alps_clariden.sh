#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
if [[ $(uname -m) == x86_64 ]]; then source /a/x86_64/activate; fi
