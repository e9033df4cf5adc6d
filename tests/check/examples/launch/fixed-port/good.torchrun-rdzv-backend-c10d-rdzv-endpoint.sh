#!/bin/bash
torchrun --rdzv_backend=c10d --rdzv_endpoint=localhost:0 --nproc_per_node=4 train.py
