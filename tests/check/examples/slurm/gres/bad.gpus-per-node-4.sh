#!/bin/bash
#SBATCH --gpus-per-node=4:
