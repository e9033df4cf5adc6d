#!/bin/bash
echo "#!/bin/bash
#SBATCH --nodes=2
srun true" | sbatch
