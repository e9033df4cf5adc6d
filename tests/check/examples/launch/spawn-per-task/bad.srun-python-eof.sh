#!/bin/bash
#SBATCH -N1 -n2
srun python - <<'EOF'
mp.spawn(f)
EOF
