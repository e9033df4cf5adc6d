#!/bin/bash
#SBATCH --mail-user me
##SBATCH --mail-type=END
