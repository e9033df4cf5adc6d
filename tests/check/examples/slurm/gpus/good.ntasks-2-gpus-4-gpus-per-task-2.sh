#!/bin/bash
#SBATCH --ntasks=2 --gpus=4 --gpus-per-task=2
