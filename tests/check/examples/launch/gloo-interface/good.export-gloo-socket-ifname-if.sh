#!/bin/bash
export GLOO_SOCKET_IFNAME=$IF
srun python train.py
