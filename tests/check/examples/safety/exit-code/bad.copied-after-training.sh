#!/bin/bash
cd $TMPDIR
python train.py
cp -r results $HOME/training/
