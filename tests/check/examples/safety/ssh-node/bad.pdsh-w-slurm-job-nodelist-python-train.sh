#!/bin/bash
pdsh -w $SLURM_JOB_NODELIST python train.py
