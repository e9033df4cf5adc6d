#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=2 -N1
N=$(apptainer exec x.sif python3 -c 'print(4)')
M=`singularity exec x.sif bash -c "python3 count.py"`
apptainer exec x.sif python -m pip list
singularity exec x.sif python --version
