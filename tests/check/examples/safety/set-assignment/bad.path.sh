#!/bin/bash
set PYTHONPATH=./
srun python train.py
