#!/bin/bash
#SBATCH --time=10
bash train.sh
