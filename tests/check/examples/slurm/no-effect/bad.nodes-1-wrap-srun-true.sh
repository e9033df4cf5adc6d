#!/bin/bash
#SBATCH --nodes=1 --wrap='srun true'
