#!/bin/bash
module load Anaconda3/5.3.0
source activate torch
