#!/bin/bash
srun python train.py
curl -sS -XPOST -d done https://hooks.uni.org/x
