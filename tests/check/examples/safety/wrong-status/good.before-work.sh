#!/bin/bash
echo "start"
if [ $? -ne 0 ]; then exit 1; fi
python train.py
