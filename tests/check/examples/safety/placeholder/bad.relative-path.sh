#!/bin/bash
python train.py --data "path_to/images"
