#!/bin/bash
cleanup() { rm -f lock; }
trap cleanup EXIT
conda activate torch
python train.py
