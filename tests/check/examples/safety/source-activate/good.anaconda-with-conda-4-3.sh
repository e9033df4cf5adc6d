#!/bin/bash
module load Anaconda3/5.0.1-fasrc01
source activate torch
