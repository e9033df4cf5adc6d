# submits the job
sbatch <<END
#!/bin/bash
#SBATCH -n 2
srun python train.py
END
