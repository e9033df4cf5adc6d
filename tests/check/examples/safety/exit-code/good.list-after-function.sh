#!/bin/bash
train() {
  srun python train.py
}
train || exit 1
echo done
