#!/bin/bash
#SBATCH -N1 -n2
srun python -c 'import torch; torch.multiprocessing.spawn(f, nprocs=2)'
