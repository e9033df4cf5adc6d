#!/bin/bash
#SBATCH -s
#SBATCH --exclusive
