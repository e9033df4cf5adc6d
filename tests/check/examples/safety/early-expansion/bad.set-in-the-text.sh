#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --time=10
OUT=/scratch/run1
python train.py --out $OUT
EOF
