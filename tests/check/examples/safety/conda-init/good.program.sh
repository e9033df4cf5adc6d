#!/bin/bash
python init.py --conda
