#!/bin/bash
rm -f slurm-1234.out
python train.py
