#!/bin/bash
#SBATCH --array=1,3
#SBATCH --output=%x
