#!/bin/bash
srun --output=logs/%j.err --error=logs/%j.log python train.py
