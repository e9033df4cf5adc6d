#!/bin/bash
node=$(scontrol show hostnames | head -n1)
list=("$node")
srun -w ${list[0]} hostname
