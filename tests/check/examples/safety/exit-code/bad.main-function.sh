#!/bin/bash
main() {
  srun python train.py
  echo finished
}
main
