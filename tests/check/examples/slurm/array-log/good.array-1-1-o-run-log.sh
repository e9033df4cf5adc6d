#!/bin/bash
#SBATCH --array=1-1 -o run.log
