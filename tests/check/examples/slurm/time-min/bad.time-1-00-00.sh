#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --time-min=1-0
