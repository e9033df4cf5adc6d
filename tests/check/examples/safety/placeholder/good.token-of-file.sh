#!/bin/bash
export HF_TOKEN=$(cat ~/.token)
echo "set HF_TOKEN=hf_... first"
srun python train.py
