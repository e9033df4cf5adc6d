#!/bin/bash
python -c "import torch; print(torch.__version__)" | tee versions.txt
python -m pip list | tee -a versions.txt
python train.py
