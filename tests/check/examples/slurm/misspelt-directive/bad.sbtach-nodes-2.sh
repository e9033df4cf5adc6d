#!/bin/bash
#SBTACH --nodes=2
srun true
