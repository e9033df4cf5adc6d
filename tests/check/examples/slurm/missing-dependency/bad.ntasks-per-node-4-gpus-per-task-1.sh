#!/bin/bash
#SBATCH --ntasks-per-node=4 --gpus-per-task=1
