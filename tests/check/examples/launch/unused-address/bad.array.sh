#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=2
head_node_ip=${ips[0]}
srun -l ./run.sh 10.10.0.101
