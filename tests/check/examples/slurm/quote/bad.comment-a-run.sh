#!/bin/bash
#SBATCH --comment='a run
#SBATCH of mine'
srun true
