#!/bin/bash
#SBATCH --ntasks=3 --gpus=4 --gpus-per-task=2
