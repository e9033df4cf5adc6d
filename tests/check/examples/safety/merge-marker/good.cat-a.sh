#!/bin/bash
cat <<< a
