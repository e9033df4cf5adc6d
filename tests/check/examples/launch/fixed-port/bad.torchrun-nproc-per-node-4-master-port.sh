#!/bin/bash
torchrun --nproc_per_node=4 --master_port=1234 train.py
