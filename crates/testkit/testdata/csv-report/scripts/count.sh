#!/bin/sh
# Counts the rows of a CSV file, without its heading.
tail -n +2 "$1" | wc -l
