#!/bin/bash
module load Miniconda3/4.3.11
source activate torch
