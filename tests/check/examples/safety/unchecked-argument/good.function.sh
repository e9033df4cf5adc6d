#!/bin/bash
#SBATCH --time=10
run() {
  name=$1
  python train.py "$name"
}
run base
