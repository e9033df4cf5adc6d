#!/bin/bash
#SBATCH --array=1-10 --output=%A_%a.log
wandb agent me/p/abc --count 1
