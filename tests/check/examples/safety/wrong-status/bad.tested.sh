#!/bin/bash
python train.py
date
if [ $? -eq 0 ]; then touch done; fi
