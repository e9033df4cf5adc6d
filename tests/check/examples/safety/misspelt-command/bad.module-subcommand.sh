#!/bin/bash
module laod cuda/12.1
python train.py
