#!/bin/bash
{
  srun python train.py
  srun python test.py
} || exit 1
echo done
