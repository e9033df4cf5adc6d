#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=2 -N1
apptainer exec -B /scratch x.sif torchrun --standalone --nproc_per_node=2 train.py
