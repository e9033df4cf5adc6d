#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --ntasks-per-node=4
