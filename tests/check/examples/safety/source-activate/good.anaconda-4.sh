#!/bin/bash
module load python3/3.6-anaconda-4.4
source activate torch
