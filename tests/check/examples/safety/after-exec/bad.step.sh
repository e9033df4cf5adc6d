#!/bin/bash
exec srun python train.py
cp -r out $HOME
