#!/bin/bash
NCCL_DEBUG=TRACE srun python train.py
