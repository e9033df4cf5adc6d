#!/bin/bash
srun python train.py --out <path>
