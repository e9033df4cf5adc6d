#!/bin/bash
cd $SCRATCH/run
rm -rf old
