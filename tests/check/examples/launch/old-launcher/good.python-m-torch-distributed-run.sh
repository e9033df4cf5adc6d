#!/bin/bash
python -m torch.distributed.run --standalone --nproc_per_node=4 train.py
