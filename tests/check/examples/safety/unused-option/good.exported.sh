#!/bin/bash
while getopts m: option; do
  case $option in
    m) mode=${OPTARG} ;;
  esac
done
export mode
srun python train.py
