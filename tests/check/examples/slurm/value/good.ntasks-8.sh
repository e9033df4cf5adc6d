#!/bin/bash
#SBATCH --ntasks=8
#SBATCH --mail-type=END,FAIL
