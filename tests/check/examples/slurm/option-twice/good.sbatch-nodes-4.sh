#!/bin/bash
#SBATCH --nodes=2
##SBATCH --nodes=4
