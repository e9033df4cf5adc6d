#!/bin/bash
#PBS -N old
#SBATCH --nodes=2
