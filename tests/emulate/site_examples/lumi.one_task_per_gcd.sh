#!/bin/bash -l
# Source: github:Lumi-supercomputer/lumi-userguide:docs/runjobs/scheduled-jobs/lumig-job.md @2c39ec93 (2 nodes, not 16), read 2026-11-29
# Expected: 16 tasks on 2 nodes, 1 GPU each
#SBATCH --job-name=examplejob
#SBATCH --partition=standard-g
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=1-12:00:00
#SBATCH --account=project_462000000
cat > select_gpu << 'END'
#!/bin/bash
export ROCR_VISIBLE_DEVICES=$SLURM_LOCALID
exec "$@"
END
chmod +x select_gpu
export OMP_NUM_THREADS=6 MPICH_GPU_SUPPORT_ENABLED=1
masks=7e000000000000,7e00000000000000,7e0000,7e000000,7e,7e00,7e00000000,7e0000000000
srun --cpu-bind=mask_cpu:$masks ./select_gpu python3 train.py
