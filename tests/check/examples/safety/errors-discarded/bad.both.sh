#!/bin/bash
python train.py &> /dev/null
