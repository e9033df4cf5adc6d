#!/bin/bash
seed=$(shuf -i 0-65535 -n 1)
srun python train.py --seed $seed
