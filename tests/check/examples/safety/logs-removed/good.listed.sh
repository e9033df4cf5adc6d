#!/bin/bash
ls slurm-*.out
python train.py
