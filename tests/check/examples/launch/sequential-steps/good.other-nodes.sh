#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --time=10
srun --nodes=1 --ntasks=1 -w "$first" ray start --head --block &
srun --nodes=1 --ntasks=1 -w "$second" ray start --address "$first:6379" --block
