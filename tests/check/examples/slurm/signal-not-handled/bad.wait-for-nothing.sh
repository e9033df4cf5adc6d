#!/bin/bash
#SBATCH --signal=B:USR1@90
trap 'kill -USR1 $PID' USR1
python train.py
PID=$!
wait $PID
