"""What every floor uses: parameters written once, checksums, sizes in words, output that appears whole."""
