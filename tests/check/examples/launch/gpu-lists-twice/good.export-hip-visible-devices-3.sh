#!/bin/bash
export HIP_VISIBLE_DEVICES=3
python train.py
