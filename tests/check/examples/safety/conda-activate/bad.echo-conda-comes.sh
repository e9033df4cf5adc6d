#!/bin/bash
echo conda comes
export PATH=~/miniconda3/bin:$PATH
conda activate x
