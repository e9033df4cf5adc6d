#!/bin/bash
#SBATCH --cpus-per-task=4
echo done
