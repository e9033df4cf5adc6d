#!/bin/bash
main() {
  srun python train.py
  local code=$?
  echo finished
  return $code
}
main
