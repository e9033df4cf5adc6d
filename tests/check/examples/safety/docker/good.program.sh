#!/bin/bash
#SBATCH --gres=gpu:1
python docker.py run
