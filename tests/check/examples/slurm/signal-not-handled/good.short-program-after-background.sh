#!/bin/bash
#SBATCH --signal=B:USR1@120
trap 'touch stop' USR1
python train.py &
while kill -0 $!; do sleep 5; done
python report.py
