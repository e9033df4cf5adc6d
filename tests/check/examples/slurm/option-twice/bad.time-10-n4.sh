#!/bin/bash
#SBATCH --time=10 -n4
#SBATCH -t 20
