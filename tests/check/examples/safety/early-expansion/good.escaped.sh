#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --time=10
python train.py --out runs/\$SLURM_JOB_ID
EOF
