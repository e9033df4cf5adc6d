#!/bin/bash
require() {
  module load $1 || exit 1
}
submit() {
  require cuda
  ./a
}
ID=$(submit)
