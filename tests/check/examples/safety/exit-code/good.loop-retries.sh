#!/bin/bash
until python train.py --resume; do
  sleep 10
done
