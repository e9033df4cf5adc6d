#!/bin/bash
set -e
cd $SCRATCH/run
rm -rf *
