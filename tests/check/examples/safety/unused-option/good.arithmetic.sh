#!/bin/bash
while getopts n: option; do
  case $option in
    n) steps=${OPTARG} ;;
  esac
done
srun python train.py --steps $((steps * 2))
