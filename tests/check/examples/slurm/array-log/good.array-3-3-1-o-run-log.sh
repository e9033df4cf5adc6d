#!/bin/bash
#SBATCH --array=3-3%1 -o run.log
