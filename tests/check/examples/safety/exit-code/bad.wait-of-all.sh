#!/bin/bash
srun -n1 python train.py --seed 1 &
srun -n1 python train.py --seed 2 &
wait
