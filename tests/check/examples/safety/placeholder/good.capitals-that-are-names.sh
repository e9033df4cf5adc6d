#!/bin/bash
#SBATCH --nodes=1
# DATA=YOUR_DATA
DATA=$YOUR_DATA
LOG="${YOUR_LOG:-log}"
YOUR_RUN=first
echo "RUN=YOUR_RUN"
: "${OUT:=YOUR_OUT}"
srun python train.py "$DATA" "$LOG" "$YOUR_RUN" --out="$OUT"
