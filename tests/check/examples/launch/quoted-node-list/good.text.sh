#!/bin/bash
nodes=$(scontrol show hostnames)
echo "$nodes"
