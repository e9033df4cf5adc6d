#!/bin/bash
#SBATCH --array=[1,3,7]
#SBATCH --output=%A_%a.log
