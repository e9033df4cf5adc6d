#!/bin/bash
#SBATCH --time=10
id=$(sbatch --parsable prepare.sh)
seff $id
