#!/bin/bash
echo $((1<<4))
#SBATCH --nodes=2
