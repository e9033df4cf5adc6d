#!/bin/bash
source venv/bin/activate
python train.py
