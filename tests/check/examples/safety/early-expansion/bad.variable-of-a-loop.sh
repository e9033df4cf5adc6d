#!/bin/bash
for lr in 0.1 0.2; do
sbatch <<'EOT'
#!/bin/bash
#SBATCH --nodes=2
srun python train.py --lr $lr
EOT
done
