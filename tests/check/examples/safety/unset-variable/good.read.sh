#!/bin/bash
#SBATCH --time=10
read -r name < names.txt
python train.py --name $name
