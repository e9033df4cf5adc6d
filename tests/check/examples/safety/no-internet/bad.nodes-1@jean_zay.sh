#!/bin/bash
#SBATCH --nodes=1
git clone https://github.com/x/y.git
