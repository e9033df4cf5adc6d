#!/bin/sh
if [ -n "$BASH_VERSION" ]; then source venv/bin/activate; fi
python train.py
