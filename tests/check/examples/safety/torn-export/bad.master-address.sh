#!/bin/bash
MASTER_ADDR=$(scontrol show hostnames "$SLURM_NODELIST" | head -n1)
srun python train.py
