#!/bin/bash
for word in $@; do
  echo $word
done
python train.py
