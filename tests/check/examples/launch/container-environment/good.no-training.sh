#!/bin/bash
#SBATCH --ntasks=4 --time=10
srun apptainer exec --cleanenv x.sif bwa mem a b
