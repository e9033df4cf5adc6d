#!/bin/bash
#SBATCH -N1 -n4 --time=10
srun -n1 python server.py &
sleep 10
srun -n1 python client.py
