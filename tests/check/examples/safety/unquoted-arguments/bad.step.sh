#!/bin/bash
srun torchrun --standalone train.py $@
