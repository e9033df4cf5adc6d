#!/bin/bash
exec python -u train.py
echo finished
