#!/bin/bash
#SBATCH --array=1,5,9
#SBATCH --output=%A_%a.log
module load python
conda activate x
python train.py
