#!/bin/bash
#SBATCH -p dev-g -N1 --gpus-per-node=4 --mem=0
