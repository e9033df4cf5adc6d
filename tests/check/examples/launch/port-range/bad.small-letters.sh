#!/bin/bash
master_port=${RANDOM}
srun python train.py --port $master_port
