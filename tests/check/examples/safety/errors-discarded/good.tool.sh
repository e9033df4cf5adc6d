#!/bin/bash
module list 2>/dev/null
python train.py
