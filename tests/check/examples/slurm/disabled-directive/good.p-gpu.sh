#!/bin/bash
#SBATCH -p gpu
# only during the course
# SBATCH --reservation=course
