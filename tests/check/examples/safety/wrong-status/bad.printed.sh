#!/bin/bash
srun python train.py
echo "end"
echo "code $?"
