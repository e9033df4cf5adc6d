#!/bin/bash
#SBATCH --time=10
python train.py
sbatch <<EOF
#!/bin/bash
#SBATCH --dependency=afterok:$SLURM_JOB_ID
python next.py --parent $SLURM_JOB_ID
EOF
