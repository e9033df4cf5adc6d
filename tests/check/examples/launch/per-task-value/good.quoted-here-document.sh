#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun bash <<'EOF'
export RANK=$SLURM_PROCID
python train.py
EOF
