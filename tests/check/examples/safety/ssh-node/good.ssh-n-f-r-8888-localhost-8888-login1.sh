#!/bin/bash
echo $SLURM_JOB_NODELIST
ssh -N -f -R 8888:localhost:8888 login1
