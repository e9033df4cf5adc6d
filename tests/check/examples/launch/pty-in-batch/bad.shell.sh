#!/bin/bash
#SBATCH --time=10
srun --pty bash
