#!/bin/bash
srun python train.py | tee -a train.log
