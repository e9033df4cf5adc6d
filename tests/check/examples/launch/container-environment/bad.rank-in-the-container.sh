#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --time=10
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n1)
srun apptainer exec --nv --cleanenv img.sif bash -c 'RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS python train_ddp.py'
