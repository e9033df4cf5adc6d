#!/bin/bash
#SBATCH --time=10
eval $(ssh-agent)
ssh-add ~/.ssh/id_ed25519
python train.py
