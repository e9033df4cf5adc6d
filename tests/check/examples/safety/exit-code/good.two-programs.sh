#!/bin/bash
python prepare.py
python train.py
