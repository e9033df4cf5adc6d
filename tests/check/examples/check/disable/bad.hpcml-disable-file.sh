#!/bin/bash
# hpcml: disable-file=
srun true
