#!/bin/bash
#SBATCH --array=0-99%10
#SBATCH --output=%A_%a.log
