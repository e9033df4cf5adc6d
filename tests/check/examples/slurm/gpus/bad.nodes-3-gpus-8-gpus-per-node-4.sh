#!/bin/bash
#SBATCH --nodes=3 --gpus=8 --gpus-per-node=4
