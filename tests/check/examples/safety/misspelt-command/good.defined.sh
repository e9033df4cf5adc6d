#!/bin/bash
pythonn() { python "$@"; }
pythonn train.py
