#!/bin/bash
export NCCL_DESYNC_DEBUG=1
torchrun --standalone train.py
