#!/bin/bash
export WANDB_MODE=online
srun python train.py
