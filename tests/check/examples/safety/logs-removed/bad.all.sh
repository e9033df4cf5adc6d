#!/bin/bash
rm slurm*
python train.py
