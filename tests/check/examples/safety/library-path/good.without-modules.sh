#!/bin/bash
export LD_LIBRARY_PATH=/opt/lib
python train.py
