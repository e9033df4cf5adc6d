#!/bin/bash
python train.py --map data/path_to_label.json --other my_path_to/x
