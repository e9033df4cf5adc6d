#!/bin/bash
module load anaconda
conda activate x
