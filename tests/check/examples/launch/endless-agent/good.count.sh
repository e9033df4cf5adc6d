#!/bin/bash
#SBATCH --time=10
wandb agent --count=2 team/project/x
