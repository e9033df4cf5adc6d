#!/bin/bash
#SBATCH --time=10
cat train.sh | bash
