#!/bin/bash
# Source: github:ualberta-rcg/alliance-wiki-rag-data:wiki_pages/Using GPUs with Slurm_en.txt @010eed77 (with the cluster's own GPU type), read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --account=def-someuser
#SBATCH --gpus-per-node=h100:1
#SBATCH --cpus-per-task=6
#SBATCH --mem=4000M
#SBATCH --time=0-03:00
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
python3 train.py
