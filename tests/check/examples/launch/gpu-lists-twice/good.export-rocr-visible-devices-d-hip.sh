#!/bin/bash
export ROCR_VISIBLE_DEVICES=$D HIP_VISIBLE_DEVICES=$D
python train.py
