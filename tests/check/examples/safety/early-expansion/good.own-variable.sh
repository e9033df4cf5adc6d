#!/bin/bash
LR=0.1
sbatch <<'EOT'
#!/bin/bash
#SBATCH --nodes=2
LR=0.2
srun python train.py --lr $LR
EOT
