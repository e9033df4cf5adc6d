#!/bin/bash
source <path-to-conda.sh> # yours
conda activate x
