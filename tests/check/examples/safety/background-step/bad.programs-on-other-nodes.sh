#!/bin/bash
#SBATCH --nodes=2
hosts=$(scontrol show hostnames $SLURM_JOB_NODELIST)
python train.py --rank 0 &
i=1
while [ $i -lt 2 ]; do
  host=$(echo "$hosts" | sed "$((i + 1))q;d")
  ssh -n "$host" "cd $PWD; python train.py --rank $i" &
  ((i++))
done
