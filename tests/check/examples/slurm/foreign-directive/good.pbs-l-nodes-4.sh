#!/bin/bash
##PBS -l nodes=4
#SBATCH --nodes=2
