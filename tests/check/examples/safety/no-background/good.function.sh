#!/bin/bash
#SBATCH --time=10
run() { python train.py & }
run
wait $!
