#!/bin/bash
#SBATCH -p small-g -N1 --gpus-per-node=1 --mem=60G
