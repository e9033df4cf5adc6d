#!/bin/bash
F=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -1)
IP=$(ssh $F hostname -I)
srun ./a
