#!/bin/bash
#SBATCH -N2 -n2
srun python server.py &
srun python client.py &
wait
