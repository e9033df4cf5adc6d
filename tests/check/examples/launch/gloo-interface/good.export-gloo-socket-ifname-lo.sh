#!/bin/bash
export GLOO_SOCKET_IFNAME=lo
torchrun --standalone train.py
