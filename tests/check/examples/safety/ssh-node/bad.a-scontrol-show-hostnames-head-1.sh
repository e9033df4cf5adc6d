#!/bin/bash
A=$(scontrol show hostnames | head -1)
ssh $A nvidia-smi
