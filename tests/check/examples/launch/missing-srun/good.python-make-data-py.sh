#!/bin/bash
#SBATCH --nodes=2
python make_data.py
srun python train.py
