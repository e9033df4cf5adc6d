#!/bin/bash
export LR=0.1
sbatch <<'EOT'
#!/bin/bash
#SBATCH --nodes=2
srun python train.py --lr $LR
EOT
