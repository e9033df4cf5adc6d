#!/bin/bash
#SBATCH -N1 --gpus-per-node=2
python a.py &
python b.py &
wait
