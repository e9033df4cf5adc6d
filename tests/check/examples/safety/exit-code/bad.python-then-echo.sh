#!/bin/bash
python train.py --epochs 3
echo "finished"
