#!/bin/bash
#SBATCH --time=10
cat > run.cfg <<EOF
python \ 
  --epochs 10
2>&1
EOF
python train.py run.cfg
