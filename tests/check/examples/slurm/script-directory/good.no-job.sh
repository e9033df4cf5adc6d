#!/bin/bash
cd "$(dirname "$0")"
python train.py
