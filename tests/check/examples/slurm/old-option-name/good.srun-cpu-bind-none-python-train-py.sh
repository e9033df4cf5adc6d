#!/bin/bash
srun --cpu-bind=none python train.py
