#!/bin/bash
srun python train.py 2>&1 | tee train.log
