#!/bin/bash
#SLURM -N 2
srun true
