#!/bin/bash

# comment
#SBATCH --nodes=2
srun true
