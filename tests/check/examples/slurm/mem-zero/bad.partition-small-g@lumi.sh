#!/bin/bash
#SBATCH --partition=small-g
#SBATCH --nodes=1 --gres=gpu:2
#SBATCH --mem=0
