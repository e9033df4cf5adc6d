#!/bin/bash
module list 2>&1 | tee log
