#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
srun python main.py --multiprocessing-distributed
