#!/bin/bash
#SBATCH --account=g123 --nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --cpus-per-task=72 --time=00:10:00 --partition=normal
srun --cpus-per-task=72 --cpu-bind=verbose,none --mpi=pmix python worker.py
