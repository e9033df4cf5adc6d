#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
srun mgen fit --config a.yaml --trainer.devices 4 --trainer.num_nodes $SLURM_NNODES
