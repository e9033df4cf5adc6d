#!/bin/bash
#SBATCH --gres=gpu:1
singularity exec docker://pytorch/pytorch python train.py
