#!/bin/bash
#SBATCH --nodes=4
python ./deepy.py train.py -d configs 20B.yml
