#!/bin/bash
find . -name old.pt && echo resumes
srun python train.py
echo done
