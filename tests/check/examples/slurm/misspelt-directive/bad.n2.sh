#!/bin/bash
#SBATCH -N2
#SBACTH --time=10
srun true
