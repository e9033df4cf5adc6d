#!/bin/bash
while read -r config; do
  srun python train.py --config $config
  echo "$config done"
done < configs.txt
