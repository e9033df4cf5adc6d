#!/bin/bash
nodes="$(scontrol show hostnames)"
array=("$nodes")
head=${array[0]}
