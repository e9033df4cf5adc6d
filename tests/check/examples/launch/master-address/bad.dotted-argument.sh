#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun python train.py trainer.init_method=tcp://localhost:1234
