#!/bin/bash
#SBATCH --mail-type=END
#SBATCH --mail-type=FAIL
#SBATCH --mail-user=me
