#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --time=10
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
srun "$HERE/inner.sh"
