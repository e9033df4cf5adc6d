#!/bin/bash
cd "$TMPDIR"
srun ./a
rm -rf ./*
