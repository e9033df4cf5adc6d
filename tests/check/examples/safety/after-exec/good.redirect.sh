#!/bin/bash
exec > log.txt 2>&1
python train.py
