#!/bin/bash
export JAVA_HOME="/opt/java:${JAVA_HOME}"
python train.py
