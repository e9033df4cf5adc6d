#!/bin/bash
KERAS_BACKEND=torch; python train.py
