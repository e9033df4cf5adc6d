#!/bin/bash
# hpcml: disable-file=slurm/after-command a wrapper reads the lines below
set -e
#SBATCH --nodes=2
#SBATCH --time=10
