#!/bin/bash
#SBATCH -n1
export A=1
conda activate /scratch/env
