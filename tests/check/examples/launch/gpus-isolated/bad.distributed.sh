#!/bin/bash
#SBATCH --ntasks-per-node=8 --ntasks=8 --cpus-per-task=8 --gpus-per-task=1 --time=10
srun mace_run_train --distributed
