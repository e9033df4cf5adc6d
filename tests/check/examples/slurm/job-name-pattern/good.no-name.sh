#!/bin/bash
srun python train.py
