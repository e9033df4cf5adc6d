#!/bin/bash
if [ -n "$DEBUG" ]; then
  exec python debug.py
fi
python train.py
