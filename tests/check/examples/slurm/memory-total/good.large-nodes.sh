#!/bin/bash
#SBATCH -p bigmem -N1 -n1 --mem-per-cpu=32G -c 96
python assemble.py
