#!/bin/bash
export GLOO_SOCKET_IFNAME=^lo,docker
torchrun --standalone train.py
