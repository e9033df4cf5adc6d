#!/bin/bash
sbatch <<EOT
#!/bin/bash
#SBATCH --nodes=2
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun python train.py
EOT
