#!/bin/bash
srun --tres-per-task=gres/gpu:1 ./a
