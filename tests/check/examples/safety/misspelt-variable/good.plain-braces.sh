#!/bin/bash
#SBATCH --time=10
NAME=run
sed "s/{NAME}/$NAME/" template.yaml > config.yaml
awk '{NAME}' config.yaml
python train.py --config config.yaml --files a{1,2} --pattern '{NAME}'
