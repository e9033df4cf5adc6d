#!/bin/bash
#SBATCH --mail-type=NONE
#SBATCH --mail-user=me
