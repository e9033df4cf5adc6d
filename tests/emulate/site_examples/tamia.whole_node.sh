#!/bin/bash
# Source: github:ualberta-rcg/alliance-wiki-rag-data:wiki_pages/TamIA_en.txt @010eed77, read 2026-11-29
# Expected: 1 task on 1 node, 4 GPUs each
#SBATCH --account=aip-someuser
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=48
#SBATCH --gpus=h100:4
#SBATCH --mem=0
#SBATCH --time=1:00:00
srun python3 train.py
