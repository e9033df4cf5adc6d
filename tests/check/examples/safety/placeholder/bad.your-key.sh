#!/bin/bash
export WANDB_API_KEY=your-api-key
srun python train.py
