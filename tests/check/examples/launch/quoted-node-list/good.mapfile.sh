#!/bin/bash
mapfile -t nodes < <(scontrol show hostnames)
srun -w "${nodes[0]}" hostname
