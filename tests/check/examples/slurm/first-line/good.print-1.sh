#!/usr/bin/python3
#SBATCH --nodes=2
print(1)
