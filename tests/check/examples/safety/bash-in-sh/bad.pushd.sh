#!/bin/sh -e
pushd code
python train.py
