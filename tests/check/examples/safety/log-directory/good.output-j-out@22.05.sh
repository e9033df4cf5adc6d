#!/bin/bash
#SBATCH --output=./%j.out
#SBATCH --error=/dev/null
