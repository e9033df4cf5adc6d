#!/bin/bash
#SBATCH --array=0-9%1 --open-mode=append
#SBATCH --output=run.log
