#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --ntasks-per-node=4
