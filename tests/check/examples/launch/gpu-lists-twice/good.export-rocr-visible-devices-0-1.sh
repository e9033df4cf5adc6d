#!/bin/bash
export ROCR_VISIBLE_DEVICES=0,1
export HIP_VISIBLE_DEVICES=0,1
python train.py
