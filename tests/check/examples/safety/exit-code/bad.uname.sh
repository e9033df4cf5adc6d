#!/bin/bash
python train.py
uname -a
