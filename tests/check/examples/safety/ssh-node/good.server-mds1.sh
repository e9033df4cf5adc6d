#!/bin/bash
echo $SLURM_JOB_NODELIST
SERVER=mds1
pdsh -w $SERVER sync
ssh -q mds1 sync
