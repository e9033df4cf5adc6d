#!/bin/bash
if [ -n "$X" ]; then rm -rf "$X"/; fi
