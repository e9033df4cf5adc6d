#!/bin/bash
while getopts m:n: option; do
  case $option in
    m) mode=${OPTARG} ;;
    n) name=${OPTARG} ;;
  esac
done
srun python train.py --mode train --name $name
