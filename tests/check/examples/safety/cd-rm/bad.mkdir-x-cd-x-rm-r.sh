#!/bin/bash
mkdir x; cd x; rm -r *
