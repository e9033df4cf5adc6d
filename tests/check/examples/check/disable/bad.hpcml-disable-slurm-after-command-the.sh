#!/bin/bash
# hpcml: disable=slurm/after-command the directives were below once
#SBATCH --nodes=2
srun true
