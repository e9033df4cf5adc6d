#!/bin/bash
uenv verbose miniconda3-py310
conda activate x
