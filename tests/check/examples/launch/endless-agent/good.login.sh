#!/bin/bash
#SBATCH --time=10
wandb login
python agent.py
