#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
cat > run.sh <<EOF
#!/bin/bash
export RANK=$SLURM_PROCID
python train.py
EOF
srun bash run.sh
