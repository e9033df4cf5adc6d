#!/bin/bash
#SBATCH --array=1-10 --output=%A_%a.log
Rscript fit.R
