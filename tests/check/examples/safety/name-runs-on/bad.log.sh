#!/bin/bash
model=resnet
python train.py --model $model > logs/$model_$SLURM_JOB_ID.txt
