#!/bin/bash
srun python train.py --cpu_bind=none
