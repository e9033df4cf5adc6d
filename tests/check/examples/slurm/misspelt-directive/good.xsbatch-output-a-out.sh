#!/bin/bash
#SBATCH -N1
#xSBATCH --output=a.out
#sSBATCH --qos=general
srun true
