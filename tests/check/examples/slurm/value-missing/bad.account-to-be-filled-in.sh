#!/bin/bash
#SBATCH --account # to be filled in
srun true
