#!/bin/bash
srun python train.py
date
exit 0
