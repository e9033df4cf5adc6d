#!/bin/bash
# Source: github:ualberta-rcg/alliance-wiki-rag-data:wiki_pages/Using GPUs with Slurm_en.txt @010eed77 (with the GPU type that the page recommends), read 2026-11-29
# Expected: 8 tasks on 2 nodes
#SBATCH --account=def-someuser
#SBATCH --gpus=a100:8
#SBATCH --ntasks-per-gpu=1
#SBATCH --cpus-per-task=6
#SBATCH --mem-per-cpu=5G
#SBATCH --time=0-03:00
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" python3 train.py
