#!/bin/bash
./pyton train.py
/opt/tools/exprot x
