#!/bin/bash
python train.py
conda deactivate
