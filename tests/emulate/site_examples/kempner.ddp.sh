#!/bin/bash
# Source: github:KempnerInstitute/kempner-computing-handbook:kempner_computing_handbook/s5_ai_scaling_and_engineering/scalability/distributed_gpu_computing.md @06d9ca34, read 2026-11-29
# Expected: 2 tasks on 2 nodes, 1 GPU each
#SBATCH --job-name=mlp_ddp
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --gpus-per-node=1
#SBATCH --time=00:10:00
#SBATCH --mem=64G
#SBATCH --partition=kempner
#SBATCH --account=kempner_dev
module load python cuda cudnn
conda activate dist_computing
MASTER_ADDR=$(scontrol show hostnames | head -n 1)
export MASTER_ADDR MASTER_PORT=39591
srun --ntasks-per-node="$SLURM_NTASKS_PER_NODE" python -u train.py
