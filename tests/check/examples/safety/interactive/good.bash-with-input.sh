#!/bin/bash
#SBATCH --time=10
bash < train.sh
bash <<EOF
python train.py
EOF
