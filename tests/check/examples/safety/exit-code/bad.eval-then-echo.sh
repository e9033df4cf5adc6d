#!/bin/bash
eval "python main.py ${ARGUMENTS}"
echo Done
