#!/bin/bash
chmod -R a+rwx $SCRATCH/run
