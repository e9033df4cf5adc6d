#!/bin/bash
#SBATCH --time=10
source start.sh
wait $!
