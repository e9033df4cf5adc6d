#!/bin/bash
#SBATCH --gpus=2 --cpus-per-gpu=8
