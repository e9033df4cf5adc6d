#!/bin/bash
#SBATCH --array=0-9 -o /dev/null
