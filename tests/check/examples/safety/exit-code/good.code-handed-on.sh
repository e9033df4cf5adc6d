#!/bin/bash
srun python train.py
finish $?
echo done
