#!/bin/bash
port=$(shuf -i 1-60000 -n 1)
srun python train.py --port $port
