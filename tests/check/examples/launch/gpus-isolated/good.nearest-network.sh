#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8
srun --accel-bind=n python -m training.main
