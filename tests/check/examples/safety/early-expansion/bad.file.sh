#!/bin/bash
cat > job.sh <<EOF
#!/bin/bash
#SBATCH --array=1-4
python train.py --seed $SLURM_ARRAY_TASK_ID
EOF
sbatch job.sh
