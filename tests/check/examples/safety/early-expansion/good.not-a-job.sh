#!/bin/bash
#SBATCH --time=10
cat > config.yaml <<EOF
job: $SLURM_JOB_ID
EOF
python train.py config.yaml
