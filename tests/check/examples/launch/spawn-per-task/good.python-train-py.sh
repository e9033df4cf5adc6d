#!/bin/bash
#SBATCH -N1 -n4
cat > train.py <<'EOF'
mp.spawn(main, nprocs=4)
EOF
python train.py
