#!/bin/bash
#SBATCH --ntasks=16 --ntasks-per-node=4
