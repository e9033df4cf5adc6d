#!/bin/bash
export TORCH_DISTRIBUTED_DEBUG=DETAIL
torchrun --standalone train.py
