#!/bin/bash
#SBATCH --account=EUHPC_D01_001 --partition=boost_usr_prod --nodes=1 --gpus-per-node=4 --ntasks-per-node=4 --cpus-per-task=8 --time=1:00:00
HPCML=/opt/hpcml
srun "$HPCML" launch --site lumi --gpus-per-node 4 --container -- singularity exec x.sif python train.py
