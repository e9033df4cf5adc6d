#!/bin/ksh
if [[ $a == b ]] ; then ; x=1 ;fi
