#!/bin/bash
rm -rf $SCRATCH/run1 /tmp/$USER/
