#!/bin/bash
declare -x KERAS_BACKEND=torch
python train.py
