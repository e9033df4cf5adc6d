#!/bin/bash
#SBATCH --nodes=1 --time=10
export
NCCL_TOPO_FILE=/opt/topo.xml
srun python train.py
