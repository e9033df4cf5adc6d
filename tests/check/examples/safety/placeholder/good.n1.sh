#!/bin/bash
#SBATCH -N1
echo "usage: job <options>"
srun bash -c 'echo "<a>"'
