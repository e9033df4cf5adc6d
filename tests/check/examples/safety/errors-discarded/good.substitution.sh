#!/bin/bash
version=$(python version.py 2>/dev/null)
python train.py
