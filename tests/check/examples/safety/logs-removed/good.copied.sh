#!/bin/bash
cp slurm-*.out logs
python train.py
