#!/bin/bash
#SBATCH --nodes={{ nodes }} --time={{ time }}
#SBATCH --account={{ account }}
srun python {{ script }}
