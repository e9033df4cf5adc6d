#!/bin/bash
#SBATCH --nodes=2-4 --ntasks=16 --ntasks-per-node=4
