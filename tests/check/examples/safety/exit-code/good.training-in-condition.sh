#!/bin/bash
if python train.py; then echo well; fi
echo done
