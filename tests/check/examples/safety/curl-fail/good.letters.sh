#!/bin/bash
curl -fsSLO https://data.uni.org/x.tar
srun python train.py
