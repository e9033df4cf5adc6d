#!/bin/bash
curl -s http://node1:8000/health
srun python train.py
