#!/bin/bash
#SBATCH -A x -p alvis -N1 -C NOGPU -t 10
srun true
