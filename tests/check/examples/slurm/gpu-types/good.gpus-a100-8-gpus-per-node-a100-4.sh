#!/bin/bash
#SBATCH --gpus=a100:8 --gpus-per-node=a100:4
