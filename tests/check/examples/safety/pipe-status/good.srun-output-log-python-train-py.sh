#!/bin/bash
srun --output=log python train.py
