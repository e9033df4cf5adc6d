#!/bin/bash
module load anaconda3/2020.11
source activate torch
