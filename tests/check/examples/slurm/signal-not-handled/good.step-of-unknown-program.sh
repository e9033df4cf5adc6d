#!/bin/bash
#SBATCH --signal=USR1@120
bash run.sh
