#!/bin/bash
torchrun --nnodes=1 --nproc_per_node=4 train.py
