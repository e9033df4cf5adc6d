#!/bin/bash
python train.py
if [ -f test.txt ]; then
  python test.py
else
  echo "no test"
fi
