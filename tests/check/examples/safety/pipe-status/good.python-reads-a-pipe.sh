#!/bin/bash
cat runs.txt | python summary.py | tee summary.txt
