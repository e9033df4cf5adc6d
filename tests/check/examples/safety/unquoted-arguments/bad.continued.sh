#!/bin/bash
python train.py \
  --epochs 3 \
  $@
