#!/bin/bash
#SBATCH --nodes=4
scontrol show hostnames > hosts
python run.py --hostfile hosts
