#!/bin/bash
#SBATCH -p GPU -A ABC@v100 -J TEST
srun sort <in >out
srun ./a < in.txt > out.txt
