#!/bin/bash
for seed in 0 1 2 3; do
  CUDA_VISIBLE_DEVICES=$seed python train.py --seed $seed &
done
wait
