#!/bin/bash
source activate
