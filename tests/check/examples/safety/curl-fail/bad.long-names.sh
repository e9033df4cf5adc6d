#!/bin/bash
[ -f x.tar ] || curl --location --remote-name https://data.uni.org/x.tar
srun python train.py
