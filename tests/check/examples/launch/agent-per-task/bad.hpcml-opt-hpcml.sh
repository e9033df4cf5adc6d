#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2 --gpus-per-node=2
HPCML=/opt/hpcml
if [[ -x $HPCML-$(uname -m) ]]; then HPCML+=-$(uname -m); fi
srun --cpu-bind=none "$HPCML" launch --site lumi --gpus-per-node 2 -- \
  torchrun --nproc_per_node=2 train.py
