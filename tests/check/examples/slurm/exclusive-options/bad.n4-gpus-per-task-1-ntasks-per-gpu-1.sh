#!/bin/bash
#SBATCH -n4 --gpus-per-task=1 --ntasks-per-gpu=1
