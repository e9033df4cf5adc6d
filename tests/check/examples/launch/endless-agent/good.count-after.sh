#!/bin/bash
#SBATCH --time=10
wandb agent team/project/x --count 1
