#!/bin/bash
#SBATCH --time=10
export PATH=/rhome/${USER}/bin:$PATH
/rhome/abokh/miniconda3/bin/python test.py
