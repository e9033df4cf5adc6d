#!/bin/bash
#SBATCH --time=10
huggingface-cli login --token $HF_TOKEN
python train.py
