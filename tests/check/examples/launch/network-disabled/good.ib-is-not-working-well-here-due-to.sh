#!/bin/bash
#SBATCH -N2
# IB is not working well here due to memlock limits
export NCCL_IB_DISABLE=1
srun python train.py
