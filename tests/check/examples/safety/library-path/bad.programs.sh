#!/bin/bash
ml cuda
export PATH=/opt/tool/bin
python train.py
