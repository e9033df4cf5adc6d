#!/bin/bash
echo "#!/bin/bash
#SBATCH --nodes=2
srun python train.py --id $SLURM_JOB_ID" > job.sh
sbatch job.sh
