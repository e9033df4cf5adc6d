#!/bin/bash
export HF_TOKEN="hf_..."
srun python train.py
