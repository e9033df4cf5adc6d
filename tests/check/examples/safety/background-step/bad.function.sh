#!/bin/bash
start() {
  python train.py --node=$1
}
source venv/bin/activate
start 0 &
