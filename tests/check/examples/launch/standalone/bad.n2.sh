#!/bin/bash
#SBATCH -N2
srun -n2 singularity exec x.sif python -m torch.distributed.run --standalone --nproc_per_node=4 train.py
