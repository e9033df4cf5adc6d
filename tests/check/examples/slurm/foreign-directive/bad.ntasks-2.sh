#!/bin/bash
#SBATCH --ntasks=2
#BSUB -n 6
