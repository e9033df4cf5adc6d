#!/bin/bash
nodes=$(scontrol show hostnames)
declare -a array=("$nodes")
srun -w ${array[1]} hostname
