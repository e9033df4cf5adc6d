#!/bin/bash
python train.py --seed 1
python train.py --seed 2
