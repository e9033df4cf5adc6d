#!/bin/bash
failed=0
pids=()
for seed in 0 1 2 3; do
  python train.py --seed $seed &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid" || failed=1
done
exit $failed
