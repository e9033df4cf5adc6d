#!/bin/bash
#SBATCH --time=10
echo $HF_TOKEN | huggingface-cli login
python train.py
