#!/bin/bash
(exec python train.py)
echo finished
