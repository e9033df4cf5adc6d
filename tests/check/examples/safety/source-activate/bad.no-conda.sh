#!/bin/bash
source activate torchenv
python train.py
