#!/bin/bash
curl -sL https://data.uni.org/weights.pt -o weights.pt
srun python train.py
