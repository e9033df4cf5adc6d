#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --time=10
for seed in 1 2 3; do
  python train.py --seed $seed
done
EOF
