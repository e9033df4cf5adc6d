#!/bin/bash
#SBATCH --nodes=1
torchrun --standalone --nproc_per_node=4 cpu.py
