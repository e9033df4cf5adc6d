#!/bin/bash
for trial in 3; do
  python train.py --trial $trial
done
