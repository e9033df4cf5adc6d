#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --account=$1
#SBATCH -p small-g -t 10
srun true
EOF
