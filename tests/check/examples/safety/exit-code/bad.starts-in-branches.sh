#!/bin/bash
if [ -f last.pt ]; then
  eval python train.py --resume &
else
  python train.py &
fi
wait
