#!/bin/bash
#SBATCH --array=0-9 -o %A.out -e %A.err
