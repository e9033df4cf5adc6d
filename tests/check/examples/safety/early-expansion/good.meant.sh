#!/bin/bash
for seed in 1 2 3; do
sbatch <<EOF
#!/bin/bash
#SBATCH --job-name=s$seed
python train.py --seed $seed
EOF
done
