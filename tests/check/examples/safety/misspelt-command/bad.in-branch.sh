#!/bin/bash
if [ -d venv ]; then
  exprot PYTHONPATH=venv
fi
python train.py
