#!/bin/bash
set -e
# hpcml: disable=slurm/after-command
#SBATCH --nodes=2
